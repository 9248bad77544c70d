/* SPDX-License-Identifier: GPL-2.0-only */
/* Pieces of TSDL, the language of CTF metadata (CTF 1.8.3, appendix C). */
#ifndef EXPORT_CTF_TSDL_H
#define EXPORT_CTF_TSDL_H

#include <stdbool.h>
#include <stdint.h>

#include "string_table.h"
#include "strbuf.h"

/*
 * A string literal of untrusted text, escaped as for a terminal: readers print what is in the
 * metadata as it is.
 */
void tsdl__string(struct strbuf *b, const char *s);

/* The name of an integer type that tsdl__types() declares: "u32"; hexadecimal: "x32". */
const char *tsdl__integer(uint32_t size, bool is_signed, bool is_hex);
void tsdl__types(struct strbuf *b);

/*
 * The names of the fields of one structure.  They begin with an underscore, which readers remove,
 * as keywords are no names of fields; they are made unique.  Zero is empty.
 */
struct tsdl_names {
	struct string_table known;
	struct strbuf last;
};

/* The name to write for this field, valid until the next call; NULL: out of memory. */
const char *tsdl_names__add(struct tsdl_names *n, const char *name);
void tsdl_names__clear(struct tsdl_names *n);

#endif /* EXPORT_CTF_TSDL_H */
