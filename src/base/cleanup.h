/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Cleanup by attribute: _cleanup_(free_x) T v = ...; runs free_x(&v) when v leaves scope. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

/* The value of a _cleanup_ variable, which gives up ownership. */
#define take_ptr(p)                        \
	({                                 \
		__typeof__(p) *_pp = &(p); \
		__typeof__(p) _v = *_pp;   \
		*_pp = NULL;               \
		_v;                        \
	})
#define take_fd(fd)               \
	({                        \
		int *_pf = &(fd); \
		int _v = *_pf;    \
		*_pf = -1;        \
		_v;               \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
/* As qsort(3) expects it: negative, 0 or positive. */
#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

#endif /* CLEANUP_H */
