// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names a function on the command line: NAME, NAME@PLACE or NAME@PLACE+0xSTART.  PLACE is a kernel
 * module, "kernel", or a file: its path, the last component of that, or its hash.
 */
#include "annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"

#define KERNEL "kernel"

static bool is_name(struct annotated *an, const struct stk_frame *f, const char *name, size_t len)
{
	const char *shown;

	if (!strncmp(f->sym, name, len) && !f->sym[len])
		return true;
	if (f->kind != STK_FRAME_USER)
		return false;
	shown = user_names__function(&an->rd.names, f->sym);
	return !strncmp(shown, name, len) && !shown[len];
}

static bool equals(const char *s, const char *text, size_t len)
{
	return s && strlen(s) == len && !memcmp(s, text, len);
}

/* Whether the function is in the file or module that PLACE names. */
static bool is_place(struct annotated *an, const struct stk_frame *f, const char *place, size_t len)
{
	struct stk_file file;
	char hash[16];

	if (f->kind == STK_FRAME_KERNEL)
		return equals(f->mod ?: KERNEL, place, len);
	if (equals(f->mod, place, len))
		return true;
	if (!f->file || stk_reader__file(an->rd.reader, f->file, &file))
		return false;
	snprintf(hash, sizeof(hash), "0x%08x", file.hash);
	return equals(file.path, place, len) || equals(hash, place, len);
}

bool function_name__matches(struct annotated *an, const struct stk_frame *f)
{
	const char *name = an->function, *place = strrchr(name, '@'), *plus;
	uint64_t start;

	if (is_name(an, f, name, strlen(name)))
		return true;
	if (!place || place == name || !is_name(an, f, name, place - name))
		return false;
	place++;
	if (is_place(an, f, place, strlen(place)))
		return true;
	plus = strrchr(place, '+');
	return plus && sscanf(plus, "+0x%" SCNx64, &start) == 1 && start == f->ip - f->off &&
	       is_place(an, f, place, plus - place);
}

static bool same_module(const struct stk_frame *a, const struct stk_frame *b)
{
	return a->kind == b->kind && !strcmp(a->mod ?: KERNEL, b->mod ?: KERNEL);
}

void function_name__put(struct annotated *an, struct strbuf *b, const struct annotate_function *f,
			const struct annotate_function *functions, unsigned int nr)
{
	const struct stk_frame *frame = &f->frame;
	bool one_module = true, one_file = true;
	struct stk_file file;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const struct stk_frame *other = &functions[i].frame;

		if (&functions[i] == f || !same_module(frame, other))
			continue;
		one_module = false;
		one_file &= frame->file == other->file;
	}
	strbuf__text(b, frame->kind == STK_FRAME_USER ?
				user_names__function(&an->rd.names, frame->sym) :
				frame->sym);
	strbuf__putc(b, '@');
	if (!one_file && frame->file && !stk_reader__file(an->rd.reader, frame->file, &file))
		strbuf__printf(b, "0x%08x", file.hash);
	else
		strbuf__text(b, frame->mod ?: KERNEL);
	if (!one_module)
		strbuf__printf(b, "+0x%" PRIx64, f->start);
}
