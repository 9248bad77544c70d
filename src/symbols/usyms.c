// SPDX-License-Identifier: GPL-2.0-only
/* Finds the function at an offset in a file of this machine. */
#include "usyms.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "clock.h"
#include "debug_file.h"
#include "elf_table.h"
#include "line_reader.h"
#include "local_file.h"
#include "log.h"
#include "string_table.h"

#define MAX_TABLE_BYTES (256u << 20) /* of cached symbol tables */
#define MAX_LINES 4 /* children kept running */
/* The default limit of hashes: as much as a recorder hashes when it stores symbols at its end. */
#define MAX_HASHED (256u << 20)

/* One file of a recording and what is known about it. */
struct recorded_file {
	struct usyms_file file; /* with copies of all strings */
	int path_err, err; /* not found at the recorded path; not found at all */
	char *full_path; /* where it was found, including the sysroot */
	const char *path; /* the same without the sysroot: a path of `file` */
	struct local_file *local; /* the file there; NULL: not searched yet */
};

struct usyms {
	struct debug_dirs dirs;
	char *sysroot;
	char **debug_dirs;
	bool inlines;
	void *recorded; /* tsearch(3) */
	struct local_files *locals;
	struct local_file **loaded; /* those with symbols or lines */
	size_t nr_loaded;
	uint64_t table_bytes, clock;
	unsigned int nr_lines;
	struct string_table names; /* returned to the caller */
};

/* ---- recorded files -------------------------------------------------------------------------- */

static int compare_strings(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int recorded_file_compare(const void *pa, const void *pb)
{
	const struct usyms_file *a = &((const struct recorded_file *)pa)->file;
	const struct usyms_file *b = &((const struct recorded_file *)pb)->file;
	int order = CMP(a->id_len, b->id_len) ?: CMP(a->content, b->content);

	order = order ?: CMP(a->size, b->size) ?: CMP(a->mtime_ns, b->mtime_ns);
	if (!order && a->id_len)
		order = memcmp(a->id, b->id, a->id_len);
	return order					 ?:
		       compare_strings(a->path, b->path) ?:
		       compare_strings(a->host_path, b->host_path);
}

static void recorded_file_free(void *file)
{
	struct recorded_file *p = file;

	free((char *)p->file.path);
	free((char *)p->file.host_path);
	free((uint8_t *)p->file.id);
	free(p->full_path);
	free(p);
}

static void recorded_file_freep(struct recorded_file **p)
{
	if (*p)
		recorded_file_free(*p);
}

static bool recorded_file_copy(struct recorded_file *p, const struct usyms_file *file)
{
	uint8_t *id = malloc(MAX(file->id_len, 1u));

	p->file = *file;
	p->file.path = file->path ? strdup(file->path) : NULL;
	p->file.host_path = file->host_path ? strdup(file->host_path) : NULL;
	p->file.id = id;
	if (id && file->id_len)
		memcpy(id, file->id, file->id_len);
	return id && !file->path == !p->file.path && !file->host_path == !p->file.host_path;
}

static int recorded_file_get(struct usyms *u, const struct usyms_file *file,
			     struct recorded_file **ret_file)
{
	struct recorded_file key = { .file = *file };
	_cleanup_(recorded_file_freep) struct recorded_file *p = NULL;
	struct recorded_file **found = tfind(&key, &u->recorded, recorded_file_compare);

	if (!found) {
		p = calloc(1, sizeof(*p));
		if (!p || !recorded_file_copy(p, file))
			return -ENOMEM;
		found = tsearch(p, &u->recorded, recorded_file_compare);
		if (!found)
			return -ENOMEM;
		p = NULL;
	}
	*ret_file = *found;
	return 0;
}

/* ---- the file itself ------------------------------------------------------------------------- */

/* Whether the open file is the one in the recording. */
static bool is_file(struct usyms *u, int fd, const struct usyms_file *file)
{
	struct local_file *local;

	if (local_files__get(u->locals, fd, &local))
		return false;
	if (file->id_len && !file->content)
		return !local_file__build_id(local, fd) && local->id_len == file->id_len &&
		       !memcmp(local->id, file->id, file->id_len);
	if (!file->size || file->size != local->size)
		return false;
	if (file->content)
		return file->id_len == sizeof(local->content) &&
		       !local_files__hash(u->locals, local, fd) &&
		       !memcmp(local->content, file->id, file->id_len);
	return file->mtime_ns == (uint64_t)local->mtime.tv_sec * SECOND_NS + local->mtime.tv_nsec;
}

/* 0, -ESTALE: found, but another file; -ENODEV. */
static int try_path(struct usyms *u, struct recorded_file *p, const char *root, const char *path,
		    int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	char *full_path;

	if (!path || *path != '/' || root__open(root, path, &fd))
		return -ENODEV;
	if (!is_file(u, fd, &p->file))
		return -ESTALE;
	if (asprintf(&full_path, "%s%s", root, path) < 0)
		return -ENOMEM;
	free(p->full_path);
	p->full_path = full_path;
	p->path = path;
	*ret_fd = take_fd(fd);
	return 0;
}

/* Reopens the file that the caller has open. */
static int open_again(struct usyms *u, struct recorded_file *p, int *ret_fd)
{
	if (!is_file(u, *p->file.fd, &p->file))
		return p->path_err = -ESTALE;
	*ret_fd = fcntl(*p->file.fd, F_DUPFD_CLOEXEC, 3);
	return *ret_fd < 0 ? -errno : 0;
}

/* Opens it at the recorded paths. */
static int open_path(struct usyms *u, struct recorded_file *p, int *ret_fd)
{
	const char *roots[] = { u->dirs.sysroot, "" };
	const char *paths[] = { p->file.host_path, p->file.path };
	int ret = -ENODEV;

	if (p->path_err)
		return p->path_err;
	if (p->file.fd)
		return open_again(u, p, ret_fd);
	for (size_t r = *u->dirs.sysroot ? 0 : 1; r < ARRAY_SIZE(roots); r++) {
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
			int err = try_path(u, p, roots[r], paths[i], ret_fd);

			if (!err || err == -ENOMEM)
				return err;
			if (err == -ESTALE)
				ret = err;
		}
	}
	p->path_err = ret;
	return ret;
}

/* Opens it at the recorded paths, or elsewhere by its build id, and sets p->local. */
static int recorded_file_open(struct usyms *u, struct recorded_file *p, int *ret_fd)
{
	_cleanup_close_ int fd = -1;
	int err = p->err ?: open_path(u, p, &fd);

	if (err && err != -ENOMEM && !p->err && p->file.id_len && !p->file.content &&
	    !debug_dirs__open_id(&u->dirs, p->file.id, p->file.id_len, &fd))
		err = 0;
	if (!err)
		err = local_files__get(u->locals, fd, &p->local);
	if (err) {
		p->err = err == -ENOMEM ? 0 : err;
		return err;
	}
	*ret_fd = take_fd(fd);
	return 0;
}

static int open_debug(const struct usyms *u, const struct recorded_file *p, int fd, int *ret_fd)
{
	return debug_dirs__open_debug(&u->dirs, fd, p->path ? p->path : "", ret_fd);
}

/* ---- loaded files ---------------------------------------------------------------------------- */

/* The least recently used file with symbols, or with lines. */
static struct local_file *oldest(const struct usyms *u, bool lines)
{
	struct local_file *found = NULL;

	for (size_t i = 0; i < u->nr_loaded; i++) {
		struct local_file *l = u->loaded[i];

		if ((lines ? !!l->lines : !!l->symbols) && (!found || l->used < found->used))
			found = l;
	}
	return found;
}

static int add_loaded(struct usyms *u, struct local_file *l)
{
	if (l->in_loaded)
		return 0;
	if (array__append(&u->loaded, &u->nr_loaded, l))
		return -ENOMEM;
	l->in_loaded = true;
	return 0;
}

static void evict_symbols(struct usyms *u)
{
	struct local_file *old;

	while (u->table_bytes > MAX_TABLE_BYTES && (old = oldest(u, false))) {
		u->table_bytes -= elf_symbols__bytes(old->symbols);
		elf_symbols__free(old->symbols);
		old->symbols = NULL;
	}
}

static void evict_lines(struct usyms *u)
{
	struct local_file *old;

	while (u->nr_lines >= MAX_LINES && (old = oldest(u, true))) {
		line_reader__free(old->lines);
		old->lines = NULL;
		u->nr_lines--;
	}
}

static int load_symbols(struct usyms *u, const struct recorded_file *p, int fd)
{
	_cleanup_close_ int debug_fd = -1;
	struct local_file *l = p->local;
	int err = add_loaded(u, l);

	if (err)
		return err;
	evict_symbols(u);
	if (!debug_file__has_symbols(fd))
		open_debug(u, p, fd, &debug_fd);
	err = elf_symbols__from_fd(fd, debug_fd, &l->symbols);
	if (!err)
		u->table_bytes += elf_symbols__bytes(l->symbols);
	return err == -ENOEXEC || err == -EIO ? -ENOENT : err;
}

static int load_lines(struct usyms *u, const struct recorded_file *p, int fd)
{
	_cleanup_close_ int debug_fd = -1, alt_fd = -1;
	struct local_file *l = p->local;
	bool own = debug_file__has_lines(fd);
	int err = add_loaded(u, l);

	if (!err && !l->segments.phdrs)
		err = elf_file__from_fd(fd, &l->segments);
	if (!err && !own)
		err = u->inlines ? open_debug(u, p, fd, &debug_fd) : -ENOENT;
	if (err)
		return err == -ENOEXEC || err == -EIO ? -ENOENT : err;
	evict_lines(u);
	fd = own ? fd : debug_fd;
	debug_dirs__open_alt(&u->dirs, fd, &alt_fd);
	err = line_reader__new(&u->dirs, fd, alt_fd, &l->lines);
	if (!err)
		u->nr_lines++;
	return err;
}

static bool is_settled(const struct local_file *l, bool lines)
{
	return lines ? l->lines || l->lines_err : l->symbols || l->symbols_err;
}

/* Loads the symbols or lines of the file; several recorded files may share it. */
static int recorded_file_load(struct usyms *u, struct recorded_file *p, bool lines)
{
	_cleanup_close_ int fd = -1;
	int err = p->local && is_settled(p->local, lines) ? 0 : recorded_file_open(u, p, &fd),
	    *known;

	if (err)
		return err;
	known = lines ? &p->local->lines_err : &p->local->symbols_err;
	if (!is_settled(p->local, lines)) {
		err = lines ? load_lines(u, p, fd) : load_symbols(u, p, fd);
		if (err == -ENOMEM)
			return err;
		*known = err;
	}
	p->local->used = ++u->clock;
	return *known;
}

/* ---- queries --------------------------------------------------------------------------------- */

int usyms__find(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		struct elf_symbol *ret_symbol)
{
	struct elf_symbol symbol;
	struct recorded_file *p;
	int err = recorded_file_get(u, file, &p);

	if (!err)
		err = recorded_file_load(u, p, false);
	if (err)
		return err;
	err = elf_symbols__find(p->local->symbols, offset, &symbol);
	if (err)
		return err;
	symbol.name = string_table__keep(&u->names, symbol.name);
	if (!symbol.name)
		return -ENOMEM;
	*ret_symbol = symbol;
	return 0;
}

int usyms__verify(struct usyms *u, const struct usyms_file *file, const char **ret_path)
{
	_cleanup_close_ int fd = -1;
	struct recorded_file *p;
	int err = recorded_file_get(u, file, &p);

	if (!err)
		err = open_path(u, p, &fd);
	if (!err)
		*ret_path = p->full_path;
	return err;
}

int usyms__lines(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		 struct usyms_line *ret_lines, unsigned int max)
{
	struct elf_symbol symbol;
	struct recorded_file *p;
	uint64_t vaddr;
	int err = recorded_file_get(u, file, &p);

	if (!err)
		err = recorded_file_load(u, p, true);
	if (err)
		return err;
	if (!elf_file__code_vaddr(&p->local->segments, offset, &vaddr))
		return -ENOENT;
	err = line_reader__find(p->local->lines, vaddr, ret_lines, max);
	if (err > 0 && (unsigned int)err < max && !ret_lines[err - 1].function &&
	    !usyms__find(u, file, offset, &symbol))
		ret_lines[err - 1].function = symbol.name;
	if (err == -EIO) {
		log_warn("cannot read source lines of '%s'",
			 p->full_path ? p->full_path : p->file.path);
		p->local->lines_err = err;
	}
	return err;
}

/* ---- public functions ------------------------------------------------------------------------ */

static void strings_free(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
}

static char **strings_copy(const char *const *v)
{
	char **copy;
	size_t nr = 0;

	while (v[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = strdup(v[i]);
		if (!copy[i]) {
			strings_free(copy);
			return NULL;
		}
	}
	return copy;
}

int usyms__new(const struct usyms_opts *opts, struct usyms **ret_usyms)
{
	static const char *const usual[] = { DEBUG_DIRS_USUAL, NULL };
	struct usyms *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->sysroot = strdup(opts->sysroot ? opts->sysroot : "");
	u->debug_dirs = strings_copy(opts->debug_dirs ? opts->debug_dirs : usual);
	if (!u->sysroot || !u->debug_dirs ||
	    local_files__new(opts->max_hashed ?: MAX_HASHED, &u->locals)) {
		usyms__free(u);
		return -ENOMEM;
	}
	u->dirs.sysroot = u->sysroot;
	u->dirs.dirs = (const char *const *)u->debug_dirs;
	u->dirs.debuginfod = opts->debuginfod;
	u->inlines = opts->inlines;
	*ret_usyms = u;
	return 0;
}

void usyms__free(struct usyms *u)
{
	if (!u)
		return;
	tdestroy(u->recorded, recorded_file_free);
	string_table__clear(&u->names);
	local_files__free(u->locals);
	free(u->loaded);
	free(u->sysroot);
	strings_free(u->debug_dirs);
	free(u);
}
