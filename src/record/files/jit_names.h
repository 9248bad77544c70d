/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of generated code at the places where it was seen.  A place may have had several functions,
 * one after the other: each further one gets a file of its own in the recording, and a time from
 * which on the place belongs to that file.
 */
#ifndef RECORD_JIT_NAMES_H
#define RECORD_JIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct jit_symbols;
struct stk_file;
struct stk_writer;

#define JIT_NAMES_WORK (64u << 20) /* places of all functions of a recording together */

/*
 * frames: of the file, in ascending order.  to_clock: the recording's clock minus CLOCK_MONOTONIC,
 * which the times of jitdumps are of.  *unclear: frames with several names of which no source says
 * when they applied; they get the last one.  *work: what all calls of a recording have cost, which
 * is limited; 0 at first.  -E2BIG: names were too long, and are left out; -EOVERFLOW: there are too
 * many files.
 */
int jit_names__write(const struct jit_symbols *s, const struct stk_file *file,
		     const uint64_t *frames, size_t nr, int64_t to_clock, struct stk_writer *w,
		     uint64_t *work, unsigned int *unclear);

#endif /* RECORD_JIT_NAMES_H */
