// SPDX-License-Identifier: GPL-2.0-only
/* Collects user frames in a set and writes their symbols. */
#include "user_frames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "file_map.h"
#include "frame.h"
#include "jit_names.h"
#include "jit_source.h"
#include "log.h"
#include "seeded_hash.h"
#include "symbols/usyms.h"
#include "trace/write/writer.h"
#include "vdso.h"

/* ---- the set --------------------------------------------------------------------------------- */

int user_frames__add(struct user_frames *u, uint64_t frame)
{
	uint64_t hash;
	uint32_t i;

	u->seed = u->seed ?: seeded_hash__seed();
	hash = seeded_hash__u64(u->seed, u->seed, frame);
	index__for_each(&u->index, hash, i)
		if (u->v[i] == frame)
			return 0;
	if (u->nr == USER_FRAMES_MAX) {
		if (!u->is_full)
			log_warn("there are more than %u places in programs: functions of further "
				 "ones have no names in the recording",
				 USER_FRAMES_MAX);
		u->is_full = true;
		return 0;
	}
	if (array__grow(&u->v, u->nr, &u->cap) || index__add(&u->index, hash, u->nr))
		return -ENOMEM;
	u->v[u->nr++] = frame;
	return 0;
}

void user_frames__clear(struct user_frames *u)
{
	free(u->v);
	index__free(&u->index);
	*u = (struct user_frames){ 0 };
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return CMP(x, y);
}

/* ---- symbols of one file --------------------------------------------------------------------- */

/* The source of a file's symbols. */
struct source {
	const struct stk_file *info;
	struct usyms *usyms; /* of ELF files */
	struct usyms_file file;
	struct elf_symbols *vdso;
	int fd;
};

static int open_elf(struct source *s, const struct mapped_file *f)
{
	const struct stk_file *info = s->info;
	bool build_id = info->id_kind == STK_ID_BUILD_ID;
	struct usyms_opts opts = { 0 };

	s->fd = mapped_file__open(f);
	if (s->fd < 0 && !build_id)
		return -ENOENT;
	s->file = (struct usyms_file){
		.fd = s->fd < 0 ? NULL : &s->fd,
		.path = info->path,
		.host_path = info->host_path,
		.id = build_id ? info->id : NULL,
		.id_len = build_id ? info->id_len : 0,
		.size = info->size,
		.mtime_ns = info->mtime_ns,
	};
	return usyms__new(&opts, &s->usyms);
}

static int source_open(struct source *s, const struct mapped_file *f)
{
	*s = (struct source){ .info = mapped_file__info(f), .fd = -1 };
	switch (s->info->kind) {
	case STK_FILE_FILE:
		return open_elf(s, f);
	case STK_FILE_VDSO:
		return vdso__symbols(&s->vdso);
	case STK_FILE_JIT:
		break;
	}
	return -ENOENT;
}

static void source_close(struct source *s)
{
	usyms__free(s->usyms);
	elf_symbols__free(s->vdso);
	closep(&s->fd);
}

static int source_find(struct source *s, uint64_t offset, struct elf_symbol *ret_symbol)
{
	if (s->usyms)
		return usyms__find(s->usyms, &s->file, offset, ret_symbol);
	return elf_symbols__find(s->vdso, offset, ret_symbol);
}

struct found {
	struct stk_user_symbol *v;
	size_t nr, cap;
};

static int found_add(struct found *f, const struct elf_symbol *sym)
{
	if (f->nr && f->v[f->nr - 1].start == sym->start && f->v[f->nr - 1].size == sym->size)
		return 0;
	if (array__grow(&f->v, f->nr, &f->cap))
		return -ENOMEM;
	f->v[f->nr++] = (struct stk_user_symbol){ sym->name, sym->start, sym->size };
	return 0;
}

/*
 * Finds symbols for both kinds of frames: at the offset itself for exact ones, and one byte before
 * it for return addresses, whose call may be the last instruction of its function.
 */
static int find_all(struct source *s, const uint64_t *frames, size_t nr, struct found *found)
{
	struct elf_symbol sym;
	size_t i;
	int err, back;

	for (i = 0; i < nr; i++) {
		for (back = 1; back >= 0; back--) {
			uint64_t offset = FRAME_OFFSET(frames[i]);

			if (offset < (uint64_t)back)
				continue;
			err = source_find(s, offset - back, &sym);
			if (err == -ENOMEM)
				return err;
			if (!err)
				err = found_add(found, &sym);
			if (err == -ENOMEM)
				return err;
		}
	}
	return 0;
}

static int write_file(const struct mapped_file *f, const uint64_t *frames, size_t nr,
		      struct stk_writer *w)
{
	struct found found = { 0 };
	struct source s;
	int err;

	err = source_open(&s, f);
	if (!err)
		err = find_all(&s, frames, nr, &found);
	if (found.nr)
		qsort(found.v, found.nr, sizeof(*found.v), stk_user_symbol__compare);
	/* without any symbols nothing is written, so that they can be added from another source */
	if (!err && found.nr)
		err = stk_user_symbol__left_out(s.info->path,
						stk_writer__user_symbols(w, s.info->number, found.v,
									 found.nr));
	else if (err && err != -ENOMEM)
		err = 0;
	source_close(&s);
	free(found.v);
	return err;
}

static int write_jit(const struct mapped_file *f, const uint64_t *frames, size_t nr,
		     int64_t to_clock, struct stk_writer *w, uint64_t *work)
{
	const struct stk_file *info = mapped_file__info(f);
	struct jit_source *source = mapped_file__jit(f);
	unsigned int unclear = 0;
	struct jit_symbols *s;
	char what[64];
	int err = source ? jit_source__symbols(source, &s) : -ENOENT;

	err = err ?: jit_names__write(s, info, frames, nr, to_clock, w, work, &unclear);
	snprintf(what, sizeof(what), "generated code of process %u", info->pid);
	err = stk_user_symbol__left_out(what, err);
	if (!err && unclear)
		log_warn("process %u has several names for %u addresses of its generated code and "
			 "does not say when each applied: the last one is used; a jitdump has the "
			 "times",
			 info->pid, unclear);
	return err == -ENOENT || err == -EFBIG ? 0 : err;
}

int user_frames__write_symbols(struct user_frames *u, const struct file_map *m, int64_t to_clock,
			       struct stk_writer *w)
{
	uint64_t work = 0;
	size_t i, end;
	int err = 0;

	if (u->nr)
		qsort(u->v, u->nr, sizeof(*u->v), by_value);
	for (i = 0; i < u->nr && !err; i = end) {
		uint32_t number = FRAME_FILE(u->v[i]);
		const struct mapped_file *f = file_map__at(m, number);

		for (end = i + 1; end < u->nr && FRAME_FILE(u->v[end]) == number; end++)
			;
		if (f && mapped_file__info(f)->kind == STK_FILE_JIT)
			err = write_jit(f, u->v + i, end - i, to_clock, w, &work);
		else if (f)
			err = write_file(f, u->v + i, end - i, w);
	}
	if (work >= JIT_NAMES_WORK)
		log_warn("generated code has too many functions, one after the other at the same "
			 "places: some names are missing or those of earlier ones");
	user_frames__clear(u);
	return err;
}
