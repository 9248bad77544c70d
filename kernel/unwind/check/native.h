/* SPDX-License-Identifier: GPL-2.0-only */
/* Between native.c, which is compiled as a part of a kernel, and native_main.c, which is not. */
#ifndef NATIVE_H
#define NATIVE_H

#define NATIVE_FRAMES 96
#define NATIVE_STACK 16384 /* bytes, and the alignment */

/* The stack of a task that sleeps, in memory of this program. */
struct native_stack {
	unsigned long begin, end, sp;
};

/* As stack_trace_save_tsk() by each unwinder; return the number of frames. */
unsigned int before_native_walk(const struct native_stack *s, unsigned long *to);
unsigned int after_native_walk(const struct native_stack *s, unsigned long *to);

#endif /* NATIVE_H */
