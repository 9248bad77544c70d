/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that a test builds for itself, in a directory that goes when the test ends. */
#ifndef TESTS_SYMBOLS_BUILT_H
#define TESTS_SYMBOLS_BUILT_H

#include <stddef.h>
#include <stdint.h>

int built__setup(void **state);
int built__teardown(void **state);
const char *built__dir(void);
/* A path in the directory; sixteen of them live at a time. */
const char *built__path(const char *name);

/* Runs a command in the directory; the test fails where it fails.  $CC is the compiler. */
void built__run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void built__write(const char *name, const void *data, size_t len);
/* The bytes of a file, with a NUL behind them, to be freed. */
char *built__read(const char *name, size_t *ret_len);
int built__open(const char *name);

/*
 * functions.S and inlined.c are there: functions with a number of eight bytes in their code, by which a test finds them in
 * the file without knowing what an ELF file is.
 */
#define MARK(nr) (0x5ca1ab1e00c0de00ULL + (nr))
/* The offset of mark nr in the file, which has it once. */
uint64_t built__mark(const char *name, unsigned int nr);

#endif /* TESTS_SYMBOLS_BUILT_H */
