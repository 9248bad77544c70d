// SPDX-License-Identifier: GPL-2.0-only
/*
 * For LD_PRELOAD: one allocation fails, the one whose number is in $NO_MEMORY_AT, counted from 1.
 * The memory of the others is that of the C library.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);

static bool fails(void)
{
	static unsigned long nr, at;

	if (!nr++)
		at = strtoul(getenv("NO_MEMORY_AT") ?: "0", NULL, 10);
	if (nr != at)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t nr, size_t size)
{
	if (size && nr > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, nr * size);
}
