/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hole in a program that src/record/kernel/native_code.c fills with instructions made for one
 * tracepoint: they build its record from its arguments.
 */
#ifndef NATIVE_HOLE_BPF_H
#define NATIVE_HOLE_BPF_H

#include "native_layout.h"

#define NATIVE_TEXT_(x) #x
#define NATIVE_TEXT(x) NATIVE_TEXT_(x)

/*
 * Fills the record after its common fields, and returns its size, of at most NATIVE_ROOM bytes, or
 * 0: a field is unavailable.  rec: the record, a struct trace_entry, in a map, where NATIVE_ROOM
 * bytes can be written.  ctx: the context of a raw tracepoint program.  Use it once in a program.
 *
 * Jumps to the next instruction cost nothing, because the verifier removes them.  While the hole is
 * empty the result is 0.
 */
#define native_fill(rec, ctx)                                                             \
	({                                                                                \
		__u64 size_;                                                              \
		asm volatile("r8 = %1\nr9 = %2\nr0 = 0\n.rept " NATIVE_TEXT(              \
				     NATIVE_HOLE) "\ngoto +0\n.endr\n%0 = r0"             \
			     : "=r"(size_)                                                \
			     : "r"(rec), "r"(ctx)                                         \
			     : "r0", "r1", "r2", "r3", "r4", "r5", "r8", "r9", "memory"); \
		size_;                                                                    \
	})

#endif /* NATIVE_HOLE_BPF_H */
