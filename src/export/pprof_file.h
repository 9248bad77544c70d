/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes profile.proto, compressed by gzip, piece by piece: a message is the same as its parts one
 * after the other.  Memory grows with distinct strings only.
 */
#ifndef EXPORT_PPROF_FILE_H
#define EXPORT_PPROF_FILE_H

#include <stdint.h>

#include "pprof.pb-c.h"

struct output;
struct stk_reader;

struct pprof_file;

/* output and r are borrowed; the memory of strings is charged to r. */
int pprof_file__new(const struct output *output, struct stk_reader *r,
		    struct pprof_file **ret_file);
void pprof_file__free(struct pprof_file *f);
static inline void pprof_file__freep(struct pprof_file **f)
{
	pprof_file__free(*f);
}

/*
 * The first error is kept, and returned by pprof_file__finish(); after it, nothing is done and
 * strings are 0.
 */
/* The number of a string, which is escaped: what is not UTF-8 text becomes \xNN.  NULL is "". */
int64_t pprof_file__string(struct pprof_file *f, const char *s);
int64_t pprof_file__printf(struct pprof_file *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Writes a part of the profile; it has no strings. */
void pprof_file__put(struct pprof_file *f, const Pprof__Profile *part);
/* Writes the strings and the end. */
int pprof_file__finish(struct pprof_file *f);

#endif /* EXPORT_PPROF_FILE_H */
