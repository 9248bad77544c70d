// SPDX-License-Identifier: GPL-2.0-only
/* Numbers frames and looks up their names. */
#include "named_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "index.h"
#include "seeded_hash.h"
#include "strbuf.h"

struct export_frames {
	struct stk_reader *r;
	struct user_names *names;
	struct export_frame *v;
	uint32_t nr, max;
	struct index index;
	uint64_t seed; /* of the hash */
	uint64_t charged; /* bytes */
};

static uint64_t memory_of(const struct export_frames *f)
{
	return (uint64_t)f->max * sizeof(*f->v) + index__memory(&f->index);
}

int export_frames__new(struct stk_reader *r, struct user_names *n,
		       struct export_frames **ret_frames)
{
	struct export_frames *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->r = r;
	f->names = n;
	f->seed = seeded_hash__seed();
	*ret_frames = f;
	return 0;
}

void export_frames__free(struct export_frames *f)
{
	if (!f)
		return;
	stk_reader__charge(f->r, -(int64_t)f->charged, 0);
	free(f->v);
	index__free(&f->index);
	free(f);
}

static uint64_t hash_of(const struct export_frames *f, const struct stk_frame *a)
{
	uint32_t owner = a->kind == STK_FRAME_KERNEL ? a->kernel : a->file;
	uint64_t h = seeded_hash__u64(f->seed, f->seed, a->ip);

	return seeded_hash__u64(f->seed, h, (uint64_t)owner << 32 | a->kind << 1 | a->exact);
}

/* Whether they are the same code; an address may belong to one function after another. */
static bool is_same(const struct stk_frame *a, const struct stk_frame *b)
{
	return a->kind == b->kind && a->ip == b->ip && a->exact == b->exact && a->file == b->file &&
	       a->kernel == b->kernel && a->sym == b->sym && a->off == b->off;
}

static void look_up(struct export_frames *f, struct export_frame *ret)
{
	const struct stk_frame *frame = &ret->frame;
	const struct name_line *lines;
	unsigned int nr = user_names__lines(f->names, frame, &lines);

	ret->function = user_names__of_frame(f->names, frame);
	if (!nr)
		return;
	ret->source = lines[nr - 1].source;
	ret->line = lines[nr - 1].line;
	ret->inlined = lines;
	ret->nr_inlined = nr - 1;
}

int export_frames__number(struct export_frames *f, const struct stk_frame *frame,
			  uint32_t *ret_number)
{
	uint64_t hash = hash_of(f, frame), memory;
	uint32_t i;
	int err;

	index__for_each(&f->index, hash, i) {
		if (is_same(&f->v[i].frame, frame)) {
			*ret_number = i;
			return 0;
		}
	}
	if (array__grow(&f->v, f->nr, &f->max) || index__add(&f->index, hash, f->nr))
		return -ENOMEM;
	f->v[f->nr] = (struct export_frame){ .frame = *frame };
	look_up(f, &f->v[f->nr]);
	*ret_number = f->nr++;
	memory = memory_of(f);
	err = stk_reader__charge(f->r, (int64_t)(memory - f->charged), 1);
	if (!err)
		f->charged = memory;
	return err;
}

uint32_t export_frames__nr(const struct export_frames *f)
{
	return f->nr;
}

const struct export_frame *export_frames__get(const struct export_frames *f, uint32_t number)
{
	return &f->v[number];
}

void export_frame__put_name(const struct export_frame *f, struct strbuf *b)
{
	if (f->function) {
		strbuf__puts(b, f->function);
		return;
	}
	export_frame__put_unnamed(&f->frame, b);
}

void export_frame__put_unnamed(const struct stk_frame *f, struct strbuf *b)
{
	if (f->mod) {
		strbuf__puts(b, f->mod);
		strbuf__putc(b, '+');
	}
	strbuf__puts(b, "0x");
	strbuf__hex(b, f->ip, 0);
}
