/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that a test builds in a directory, which is removed when the test ends. */
#ifndef TESTS_SYMBOLS_BUILT_H
#define TESTS_SYMBOLS_BUILT_H

#include <stddef.h>
#include <stdint.h>

int built__setup(void **state);
int built__teardown(void **state);
const char *built__dir(void);
/* A path in the directory; valid until sixteen more are requested. */
const char *built__path(const char *name);

/* Runs a command in the directory; fails the test if it fails.  $CC is the compiler. */
void built__run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void built__write(const char *name, const void *data, size_t len);
/* The bytes of a file, terminated by NUL; the caller frees them. */
char *built__read(const char *name, size_t *ret_len);
int built__open(const char *name);

/*
 * The directory has functions.S and inlined.c.  Their functions have a number of eight bytes in
 * their code, which lets a test find them in the file without parsing ELF.
 */
#define MARK(nr) (0x5ca1ab1e00c0de00ULL + (nr))
/* The file offset of mark nr, which occurs once in the file. */
uint64_t built__mark(const char *name, unsigned int nr);

#endif /* TESTS_SYMBOLS_BUILT_H */
