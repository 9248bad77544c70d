// SPDX-License-Identifier: GPL-2.0-only
/* Names user functions by the symbols in the recording or in files of this machine. */
#include "user_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "seeded_hash.h"
#include "symbols/debug_file.h"
#include "symbols/usyms.h"

#define MAX_INLINED 32 /* nested inlined functions shown at one address */

struct name_lines {
	uint32_t file, nr;
	uint64_t offset;
	struct name_line *v;
};

/* ---- files of this machine ------------------------------------------------------------------- */

int user_names__add_debug_dir(struct user_names *n, const char *dir)
{
	if (array__reserve(&n->debug_dirs, n->nr_debug_dirs + 2, &n->max_debug_dirs))
		return log_err(-ENOMEM, "remember '%s'", dir);
	n->debug_dirs[n->nr_debug_dirs++] = dir;
	n->debug_dirs[n->nr_debug_dirs] = NULL;
	return 0;
}

struct usyms *user_names__usyms(struct user_names *n)
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

void user_names__usyms_file(const struct stk_file *file, struct usyms_file *ret_file)
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

static void note_found(struct user_names *n, uint32_t file, enum names_found found)
{
	if (!array__reach(&n->found, file, &n->nr_found))
		n->found[file] = found;
}

static int symbolize(void *ctx, const struct stk_file *file, uint64_t offset,
		     struct stk_user_symbol *ret_symbol)
{
	struct user_names *n = ctx;
	struct usyms_file f;
	struct elf_symbol s;
	int err;

	if (file->kind != STK_FILE_FILE)
		return -ENODEV;
	if (!user_names__usyms(n))
		return -ENOMEM;
	user_names__usyms_file(file, &f);
	err = usyms__find(n->usyms, &f, offset, &s);
	note_found(n, file->number,
		   err == -ESTALE ? NAMES_OTHER :
		   err == -ENODEV ? NAMES_GONE :
				    NAMES_FOUND);
	if (!err)
		*ret_symbol = (struct stk_user_symbol){ s.name, s.start, s.size };
	return err;
}

void user_names__start(struct user_names *n, struct stk_reader *r)
{
	const char *why = n->debuginfod ? debuginfod__unusable() : NULL;

	if (why)
		log_warn("--debuginfod: %s", why);
	n->reader = r;
	n->seed = seeded_hash__seed();
	if (!n->no_symbols)
		stk_reader__set_symbolizer(r, symbolize, n);
}

void user_names__finish(const struct user_names *n)
{
	unsigned int missing = 0;
	uint32_t i;

	for (i = 0; i < n->nr_found; i++)
		missing += n->found[i] == NAMES_GONE || n->found[i] == NAMES_OTHER;
	if (missing == 1)
		log_warn(
			"functions of one file have no names: the recording lacks its symbols, and "
			"the file here is missing or differs (see 'stackonce files --verify')");
	else if (missing)
		log_warn(
			"functions of %u files have no names: the recording lacks their symbols, "
			"and the files here are missing or differ (see 'stackonce files --verify')",
			missing);
}

const char *file__kind(const struct stk_file *file)
{
	static const char *const kinds[] = {
		[STK_FILE_FILE] = "file", [STK_FILE_VDSO] = "vdso", [STK_FILE_JIT] = "jit"
	};

	return (unsigned int)file->kind < ARRAY_SIZE(kinds) ? kinds[file->kind] : "unknown";
}

/* ---- names as shown -------------------------------------------------------------------------- */

const char *user_names__function(struct user_names *n, const char *sym)
{
	const char *raw;
	uint32_t i;

	if (string_table__intern(&n->strings, sym, &i) || array__reach(&n->shown, i, &n->nr_shown))
		return sym;
	raw = string_table__get(&n->strings, i);
	if (!n->shown[i])
		n->shown[i] = (n->no_demangle ? NULL : demangle(raw)) ?: (char *)raw;
	return n->shown[i];
}

const char *user_names__of_frame(struct user_names *n, const struct stk_frame *f)
{
	return n && f->sym && f->kind == STK_FRAME_USER ? user_names__function(n, f->sym) : f->sym;
}

/* ---- source lines ---------------------------------------------------------------------------- */

static int look_up_lines(struct user_names *n, uint32_t number, uint64_t offset,
			 struct name_lines *ret)
{
	struct usyms_line found[MAX_INLINED];
	struct usyms_file f;
	struct stk_file file;
	int nr = 0, i;

	if (!stk_reader__file(n->reader, number, &file) && file.kind == STK_FILE_FILE &&
	    user_names__usyms(n)) {
		user_names__usyms_file(&file, &f);
		nr = usyms__lines(n->usyms, &f, offset, found, MAX_INLINED);
		nr = nr < 0 ? 0 : nr;
	}
	ret->v = calloc(nr + 1, sizeof(*ret->v));
	if (!ret->v)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		if (found[i].function)
			ret->v[i].function = user_names__function(n, found[i].function);
		if (found[i].source)
			ret->v[i].source = string_table__keep(&n->strings, found[i].source);
		ret->v[i].line = found[i].line;
	}
	ret->file = number;
	ret->offset = offset;
	ret->nr = nr;
	return 0;
}

unsigned int user_names__lines(struct user_names *n, const struct stk_frame *f,
			       const struct name_line **ret_lines)
{
	uint64_t offset = f->exact || !f->ip ? f->ip : f->ip - 1;
	uint64_t hash = seeded_hash__u64(n->seed, n->seed ^ f->file, offset);
	struct name_lines l;
	uint32_t i;

	if (!n->inlines || f->kind != STK_FRAME_USER || !f->file)
		return 0;
	index__for_each(&n->line_index, hash, i)
		if (n->lines[i].file == f->file && n->lines[i].offset == offset)
			break;
	if (i == INDEX_NONE) {
		if (array__grow(&n->lines, n->nr_lines, &n->max_lines) ||
		    index__reserve(&n->line_index, n->nr_lines + 1) ||
		    look_up_lines(n, f->file, offset, &l))
			return 0;
		i = n->nr_lines++;
		n->lines[i] = l;
		index__add(&n->line_index, hash, i); /* reserved above */
	}
	*ret_lines = n->lines[i].v;
	return n->lines[i].nr;
}

void user_names__free(struct user_names *n)
{
	uint32_t i;

	/* Both arrays grow on their own, and strings has names of source files, too. */
	for (i = 0; i < n->nr_shown && i < n->strings.nr; i++)
		if (n->shown[i] != string_table__get(&n->strings, i))
			free(n->shown[i]);
	for (i = 0; i < n->nr_lines; i++)
		free(n->lines[i].v);
	free(n->shown);
	string_table__clear(&n->strings);
	free(n->lines);
	index__free(&n->line_index);
	free(n->found);
	free(n->debug_dirs);
	usyms__free(n->usyms);
}
