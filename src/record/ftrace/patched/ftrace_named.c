// SPDX-License-Identifier: GPL-2.0-only
/* Finds the files that the kernel identifies by a hash. */
#include "ftrace_named.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "frame.h"
#include "idmap.h"
#include "record/files/file_map.h"
#include "record/files/seen_file.h"
#include "record/files/vdso.h"
#include "record/ftrace/ring/ftrace_instance.h"
#include "record/ftrace/ring/ftrace_stacks.h"
#include "symbols/usyms.h"

struct named_file {
	uint32_t hash;
	uint8_t id[FTRACE_BUILD_ID_MAX];
	uint32_t id_len;
	char *path;
	struct mapped_file *file; /* NULL: no frame of it has been seen */
};

struct ftrace_named {
	const struct ftrace_instance *instance;
	struct file_map *files;
	struct idmap by_hash; /* hash -> index + 1 */
	struct named_file *v;
	uint32_t nr, cap;
	bool fresh; /* file_map of tracefs has been read since refresh() */
};

int ftrace_named__new(const struct ftrace_instance *instance, struct file_map *files,
		      struct ftrace_named **ret_named)
{
	struct ftrace_named *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	n->instance = instance;
	n->files = files;
	*ret_named = n;
	return 0;
}

void ftrace_named__free(struct ftrace_named *n)
{
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < n->nr; i++)
		free(n->v[i].path);
	free(n->v);
	idmap__clear(&n->by_hash);
	free(n);
}

void ftrace_named__refresh(struct ftrace_named *n)
{
	n->fresh = false;
}

/* ---- file records of the kernel -------------------------------------------------------------- */

/* The kernel may report a file more than once. */
static int add(struct ftrace_named *n, uint32_t hash, const uint8_t *id, uint32_t id_len,
	       const char *path, size_t path_len)
{
	struct named_file f = { .hash = hash };
	uint32_t *at;

	if (!hash)
		return 0;
	at = idmap__get(&n->by_hash, hash);
	if (!at)
		return -ENOMEM;
	if (*at)
		return 0;
	if (array__grow(&n->v, n->nr, &n->cap))
		return -ENOMEM;
	f.id_len = MIN(id_len, (uint32_t)sizeof(f.id));
	memcpy(f.id, id, f.id_len);
	f.path = strndup(path, path_len);
	if (!f.path)
		return -ENOMEM;
	n->v[n->nr++] = f;
	*at = n->nr;
	return 0;
}

int ftrace_named__add(struct ftrace_named *n, const struct ftrace_record *r)
{
	return add(n, r->hash, r->build_id, r->build_id_size, r->path, r->path_len);
}

static int read_files(struct ftrace_named *n)
{
	_cleanup_free_ char *text = NULL;
	struct ftrace_file f;
	const char *at;
	size_t len;
	int err, more;

	n->fresh = true;
	err = ftrace_instance__read(n->instance, "file_map", &text, &len);
	if (err)
		return err;
	at = text;
	while (!err && (more = ftrace_file__next(&at, &f)))
		if (more > 0)
			err = add(n, f.hash, f.build_id, f.build_id_size, f.path, f.path_len);
	return err;
}

/* ---- the file itself ------------------------------------------------------------------------- */

/* Opens path if that file has the build id that the kernel reported. */
static bool open_same(const struct named_file *f, const char *path, struct seen_file *s)
{
	int fd = file_open_regular(path);

	if (fd < 0)
		return false;
	if (f->id_len && !elf_build_id__from_fd(fd, s->id, &s->id_len) && s->id_len == f->id_len &&
	    !memcmp(s->id, f->id, f->id_len) && !file_stat__read(fd, &s->st)) {
		s->fd = fd;
		return true;
	}
	close(fd);
	return false;
}

static int describe(const struct named_file *f, uint32_t tgid, struct seen_file *s)
{
	_cleanup_free_ char *inside = NULL;
	bool visible;

	*s = (struct seen_file){ .fd = -1 };
	if (asprintf(&inside, "/proc/%u/root%s", tgid, f->path) < 0) {
		inside = NULL;
		return -ENOMEM;
	}
	visible = open_same(f, f->path, s);
	if (!visible)
		open_same(f, inside, s);
	s->dev_major = major(s->st.dev);
	s->dev_minor = minor(s->st.dev);
	s->inode = s->st.ino;
	memcpy(s->id, f->id, f->id_len);
	s->id_len = f->id_len;
	s->path = strdup(f->path);
	s->host_path = strdup(visible ? f->path : "");
	return s->path && s->host_path ? 0 : -ENOMEM;
}

static int find_file(struct ftrace_named *n, struct named_file *f, uint32_t tgid)
{
	struct wire_file_event event = {
		.key = { .kind = WIRE_KEY_FILE, .w = { f->hash } },
		.tgid = tgid,
	};
	struct seen_file s;
	int err;

	if (!strcmp(f->path, "[vdso]"))
		return file_map__add_vdso(n->files, f->id, f->id_len, &f->file);
	err = describe(f, tgid, &s);
	if (err) {
		seen_file__release(&s);
		return err;
	}
	return file_map__add(n->files, &event, &s, &f->file);
}

int ftrace_named__frame(struct ftrace_named *n, uint32_t tgid, uint32_t hash, uint64_t offset,
			uint64_t *ret_frame)
{
	uint32_t *at, number;
	int err = 0;

	*ret_frame = FRAME_USER(0, offset);
	if (!hash)
		return 0;
	at = idmap__get(&n->by_hash, hash);
	if (at && !*at && !n->fresh) {
		err = read_files(n);
		at = idmap__get(&n->by_hash, hash);
	}
	if (err || !at)
		return err ?: -ENOMEM;
	if (!*at)
		return 0;
	if (!n->v[*at - 1].file)
		err = find_file(n, &n->v[*at - 1], tgid);
	if (!err)
		err = file_map__number(n->files, n->v[*at - 1].file, &number);
	if (!err)
		*ret_frame = FRAME_USER(number, offset);
	return err;
}
