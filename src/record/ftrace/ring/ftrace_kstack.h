/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel stacks as ftrace takes them, made into what the BPF programs record. */
#ifndef RECORD_FTRACE_KSTACK_H
#define RECORD_FTRACE_KSTACK_H

#include <stdint.h>

#include "idmap.h"

struct ksyms;

struct ftrace_kstacks {
	struct ksyms *syms; /* borrowed */
	struct idmap tracer; /* address -> 1: no function of the tracer's, 2: one of these */
};

void ftrace_kstacks__clear(struct ftrace_kstacks *k);

/*
 * How many of the innermost frames are the tracer's own; negative: errno.  What ftrace skips by
 * number depends on what the compiler has inlined.
 */
int ftrace_kstacks__own(struct ftrace_kstacks *k, const uint64_t *frames, unsigned int nr);

#endif /* RECORD_FTRACE_KSTACK_H */
