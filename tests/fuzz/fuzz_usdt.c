/* SPDX-License-Identifier: GPL-2.0-only */
/* Fuzz target: the notes of USDT probes in an ELF file, and their argument strings. */
#include <stdlib.h>
#include <string.h>

#include "symbols/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *s)
{
	if (!*s)
		abort();
	for (; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == ':')
			abort();
}

static void check_args(const char *text)
{
	struct usdt_arg args[USDT_MAX_ARGS];
	unsigned int nr = usdt_args__parse(text, args);

	if (nr > USDT_MAX_ARGS || nr > strlen(text))
		abort();
	for (unsigned int i = 0; i < nr; i++)
		if (args[i].size != 1 && args[i].size != 2 && args[i].size != 4 &&
		    args[i].size != 8)
			abort();
}

/* Notes are sorted and lie in the file. */
static void check(const struct usdt_notes *notes, size_t size)
{
	struct usdt_note last, note;

	if (!usdt_notes__nr(notes))
		abort();
	for (size_t i = 0; i < usdt_notes__nr(notes); i++) {
		usdt_notes__get(notes, i, &note);
		check_name(note.provider);
		check_name(note.name);
		check_args(note.args);
		if (note.offset >= size)
			abort();
		if (i &&
		    (strcmp(last.provider, note.provider) > 0 ||
		     (!strcmp(last.provider, note.provider) && strcmp(last.name, note.name) > 0)))
			abort();
		last = note;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct usdt_notes *notes;

	if (usdt_notes__from_image(data, size, &notes))
		return 0;
	check(notes, size);
	usdt_notes__free(notes);
	return 0;
}
