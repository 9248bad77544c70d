// SPDX-License-Identifier: GPL-2.0-only
/* Names user functions by the recording or by files of this machine. */
#include "user_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "seeded_hash.h"
#include "symbols/usyms.h"

#define MAX_INLINED 32 /* functions inlined into one another at one address, that are shown */

struct name {
	char *raw; /* NULL: a free slot */
	char *shown; /* what it reads as; raw itself where that is the same */
};

struct name_lines {
	uint32_t file, nr;
	uint64_t offset;
	struct name_line *v; /* NULL: a free slot */
};

/* ---- files of this machine ------------------------------------------------------------------ */

int names__add_debug_dir(struct names *n, const char *dir)
{
	const char **more = reallocarray(n->debug_dirs, n->nr_debug_dirs + 2, sizeof(*more));

	if (!more)
		return log_err(-ENOMEM, "remember '%s'", dir);
	n->debug_dirs = more;
	more[n->nr_debug_dirs++] = dir;
	more[n->nr_debug_dirs] = NULL;
	return 0;
}

struct usyms *names__usyms(struct names *n)
{
	struct usyms_opts opts = {
		.sysroot = n->sysroot,
		.debug_dirs = n->debug_dirs,
		.debuginfod = n->debuginfod,
		.inlines = n->inlines,
		.max_hashed = n->hash_all ? UINT64_MAX : 0,
	};

	if (!n->usyms && usyms__new(&opts, &n->usyms))
		n->usyms = NULL;
	return n->usyms;
}

void names__usyms_file(const struct stk_file *file, struct usyms_file *ret_file)
{
	*ret_file = (struct usyms_file){
		.path = file->path,
		.host_path = file->host_path,
		.id = file->id_len ? file->id : NULL,
		.id_len = file->id_len,
		.content = file->id_kind == STK_ID_CONTENT,
		.size = file->size,
		.mtime_ns = file->mtime_ns,
	};
}

static void note_found(struct names *n, uint32_t file, enum names_found found)
{
	uint8_t *more;
	uint32_t nr;

	if (file >= n->nr_found) {
		nr = MAX(file + 1, 2 * n->nr_found);
		more = realloc(n->found, nr);
		if (!more)
			return;
		memset(more + n->nr_found, 0, nr - n->nr_found);
		n->found = more;
		n->nr_found = nr;
	}
	n->found[file] = found;
}

static int symbolize(void *ctx, const struct stk_file *file, uint64_t offset,
		     struct stk_user_symbol *ret_symbol)
{
	struct names *n = ctx;
	struct usyms_file f;
	struct elf_symbol s;
	int err;

	if (file->kind != STK_FILE_FILE)
		return -ENODEV;
	if (!names__usyms(n))
		return -ENOMEM;
	names__usyms_file(file, &f);
	err = usyms__find(n->usyms, &f, offset, &s);
	note_found(n, file->number,
		   err == -ESTALE ? NAMES_OTHER :
		   err == -ENODEV ? NAMES_GONE :
				    NAMES_FOUND);
	if (!err)
		*ret_symbol = (struct stk_user_symbol){ s.name, s.start, s.size };
	return err;
}

void names__start(struct names *n, struct stk_reader *r)
{
	n->reader = r;
	n->seed = seeded_hash__seed();
	if (!n->no_symbols)
		stk_reader__set_symbolizer(r, symbolize, n);
}

void names__finish(const struct names *n)
{
	unsigned int missing = 0;
	uint32_t i;

	for (i = 0; i < n->nr_found; i++)
		missing += n->found[i] == NAMES_GONE || n->found[i] == NAMES_OTHER;
	if (missing == 1)
		log_warn("the functions of one file have no names: the recording has none, and the "
			 "file is not here as it was (see stackonce files --verify)");
	else if (missing)
		log_warn("the functions of %u files have no names: the recording has none, and the "
			 "files are not here as they were (see stackonce files --verify)",
			 missing);
}

/* ---- names as they are shown ---------------------------------------------------------------- */

static struct name *find_name(const struct names *n, const char *raw)
{
	size_t mask = ((size_t)1 << n->bits) - 1, at;

	at = seeded_hash__bytes(n->seed, raw, strlen(raw)) & mask;

	while (n->table[at].raw && strcmp(n->table[at].raw, raw))
		at = (at + 1) & mask;
	return &n->table[at];
}

static int grow_names(struct names *n)
{
	size_t i, old = n->table ? (size_t)1 << n->bits : 0;
	struct names grown = { .bits = n->table ? n->bits + 1 : 10, .seed = n->seed };

	grown.table = calloc((size_t)1 << grown.bits, sizeof(*grown.table));
	if (!grown.table)
		return -ENOMEM;
	for (i = 0; i < old; i++)
		if (n->table[i].raw)
			*find_name(&grown, n->table[i].raw) = n->table[i];
	free(n->table);
	n->table = grown.table;
	n->bits = grown.bits;
	return 0;
}

/* The name's entry, made if need be; NULL when out of memory. */
static struct name *intern(struct names *n, const char *raw, bool is_function)
{
	struct name *e;

	if ((!n->table || n->nr >= 1u << n->bits >> 1) && grow_names(n))
		return NULL;
	e = find_name(n, raw);
	if (!e->raw) {
		e->raw = strdup(raw);
		if (!e->raw)
			return NULL;
		n->nr++;
	}
	if (is_function && !e->shown)
		e->shown = (n->no_demangle ? NULL : demangle(raw)) ?: e->raw;
	return e;
}

const char *names__function(struct names *n, const char *sym)
{
	const struct name *e = intern(n, sym, true);

	return e ? e->shown : sym;
}

/* ---- source lines --------------------------------------------------------------------------- */

static struct name_lines *find_lines(const struct names *n, uint32_t file, uint64_t offset)
{
	size_t mask = ((size_t)1 << n->line_bits) - 1;
	size_t at = seeded_hash__u64(n->seed, n->seed ^ file, offset) & mask;

	while (n->lines[at].v && (n->lines[at].file != file || n->lines[at].offset != offset))
		at = (at + 1) & mask;
	return &n->lines[at];
}

static int grow_lines(struct names *n)
{
	size_t i, old = n->lines ? (size_t)1 << n->line_bits : 0;
	struct names grown = { .line_bits = n->lines ? n->line_bits + 1 : 10, .seed = n->seed };

	grown.lines = calloc((size_t)1 << grown.line_bits, sizeof(*grown.lines));
	if (!grown.lines)
		return -ENOMEM;
	for (i = 0; i < old; i++)
		if (n->lines[i].v)
			*find_lines(&grown, n->lines[i].file, n->lines[i].offset) = n->lines[i];
	free(n->lines);
	n->lines = grown.lines;
	n->line_bits = grown.line_bits;
	return 0;
}

static int ask_lines(struct names *n, uint32_t number, uint64_t offset, struct name_lines *ret)
{
	struct usyms_line found[MAX_INLINED];
	struct usyms_file f;
	struct stk_file file;
	const struct name *e;
	int nr = 0, i;

	if (!stk_reader__file(n->reader, number, &file) && file.kind == STK_FILE_FILE &&
	    names__usyms(n)) {
		names__usyms_file(&file, &f);
		nr = usyms__lines(n->usyms, &f, offset, found, MAX_INLINED);
		nr = nr < 0 ? 0 : nr;
	}
	ret->v = calloc(nr + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (found[i].function)
			ret->v[i].function = names__function(n, found[i].function);
		e = found[i].source ? intern(n, found[i].source, false) : NULL;
		ret->v[i].source = e ? e->raw : NULL;
		ret->v[i].line = found[i].line;
	}
	ret->file = number;
	ret->offset = offset;
	ret->nr = nr;
	n->nr_lines++;
	return 0;
}

unsigned int names__lines(struct names *n, const struct stk_frame *f,
			  const struct name_line **ret_lines)
{
	uint64_t offset = f->exact || !f->ip ? f->ip : f->ip - 1;
	struct name_lines *l;

	if (!n->inlines || f->kind != STK_FRAME_USER || !f->file)
		return 0;
	if ((!n->lines || n->nr_lines >= 1u << n->line_bits >> 1) && grow_lines(n))
		return 0;
	l = find_lines(n, f->file, offset);
	if (!l->v && ask_lines(n, f->file, offset, l))
		return 0;
	*ret_lines = l->v;
	return l->nr;
}

void names__free(struct names *n)
{
	size_t i;

	for (i = 0; n->table && i < (size_t)1 << n->bits; i++) {
		if (n->table[i].shown != n->table[i].raw)
			free(n->table[i].shown);
		free(n->table[i].raw);
	}
	for (i = 0; n->lines && i < (size_t)1 << n->line_bits; i++)
		free(n->lines[i].v);
	free(n->table);
	free(n->lines);
	free(n->found);
	free(n->debug_dirs);
	usyms__free(n->usyms);
}
