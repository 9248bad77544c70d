/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Human-readable numbers, for "%s" of a printf(): text__number(1234).s is "1,234", valid until the
 * end of the statement; how wide text is; and back, from hexadecimal digits.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
	char s[96];
};

struct text text__number(uint64_t v); /* "1,234,567" */
/* Three significant digits, and whole ns and s: "7 ns", "1.23 ms", "1234 s". */
struct text text__ns(unsigned __int128 ns);
/* A time in seconds, rounded to us as ftrace prints it: "12.345679". */
struct text text__time(uint64_t ns);
struct text text__bytes(uint64_t v); /* "12.35 MB" */

/* How many bytes of UTF-8 text fit into so many columns: a character is a column. */
size_t text__fit(const char *s, size_t len, unsigned int columns);
/* "1 event", "1,234 events"; the plural of the noun has an s. */
struct text text__count(uint64_t nr, const char *noun);

/* The byte that s begins with, which \xNN is, too; returns its length in s. */
size_t text__byte(const char *s, char *ret_byte);
/* As many whole bytes as there are hexadecimal digits for, at most max; returns their number. */
uint32_t text__hex_bytes(const char *text, uint8_t *ret_bytes, uint32_t max);

#endif /* TEXT_H */
