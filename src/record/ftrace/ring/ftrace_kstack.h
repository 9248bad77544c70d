/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts kernel stacks of ftrace to those that the BPF programs record. */
#ifndef RECORD_FTRACE_KSTACK_H
#define RECORD_FTRACE_KSTACK_H

#include <stdint.h>

#include "idmap.h"

struct ksyms;

struct ftrace_kstacks {
	struct ksyms *syms; /* borrowed */
	struct idmap tracer; /* address -> 1: not in a function of the tracer, 2: in one */
};

void ftrace_kstacks__clear(struct ftrace_kstacks *k);

/*
 * Returns how many of the innermost frames are the tracer's own, or a negative errno.  ftrace skips
 * a fixed number of frames, so the rest depends on what the compiler has inlined.
 */
int ftrace_kstacks__own(struct ftrace_kstacks *k, const uint64_t *frames, unsigned int nr);

#endif /* RECORD_FTRACE_KSTACK_H */
