/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A frame is one u64, the same in BPF, in the stack map, in the recorder and in the file:
 *   kernel address   bits 63..47 all ones (x86-64 and arm64 kernel half)
 *   marker           bit 63 set, bits 62..40 zero: kind in bits 39..32, value in bits 31..0
 *   user frame       bit 63 clear: file in bits 62..40, offset in the file in bits 39..0.
 *                    File 0: the file is unknown, the offset is the low bits of the address.  For
 *                    memory without a file (JIT) the "file" is a process and address bits 63..40.
 * Frames of a stack are stored innermost first.
 */
#ifndef FRAME_H
#define FRAME_H

#define FRAME_MARKER_BIT 0x8000000000000000ULL
#define FRAME_MARKER_MASK 0xffffff0000000000ULL
#define FRAME_MARKER(kind, value) \
	(FRAME_MARKER_BIT | ((unsigned long long)(kind) << 32) | (unsigned int)(value))
#define FRAME_IS_MARKER(f) (((f)&FRAME_MARKER_MASK) == FRAME_MARKER_BIT)
#define FRAME_MARKER_KIND(f) ((unsigned int)((f) >> 32) & 0xff)
#define FRAME_MARKER_VALUE(f) ((unsigned int)(f))
#define FRAME_IS_KERNEL(f) (((f) >> 47) == 0x1ffffULL)

enum frame_marker {
	FRAME_LINK = 1, /* stack map only: the stack continues in the record with this id */
	FRAME_END = 2, /* value: how the stack ends (enum stk_stack_end), if not complete */
	FRAME_EXACT = 3, /* precedes a frame whose ip is exact although no interrupt entry shows
			  * it, as the first frame of a timer sample */
	FRAME_GUESS = 4, /* user stacks: the frames outward from here are guesses, found without an
			  * unwind table: by frame pointers or by following generated code */
	FRAME_PENDING = 5, /* the only word, except for FRAME_END: placeholder for a user stack
			    * that was unknown when its event was written; value: a unique number */
};

/* In a kernel stack, code that ftrace allocated: the kernel's FTRACE_TRAMPOLINE_MARKER. */
#define FRAME_TRAMPOLINE 0x7fffffffULL

#define FRAME_FILE_BITS 23
#define FRAME_OFFSET_BITS 40
#define FRAME_IS_USER(f) (!((f) >> 63))
#define FRAME_USER(file, off)                              \
	((unsigned long long)(file) << FRAME_OFFSET_BITS | \
	 ((unsigned long long)(off) & ((1ULL << FRAME_OFFSET_BITS) - 1)))
#define FRAME_FILE(f) ((unsigned int)((f) >> FRAME_OFFSET_BITS))
#define FRAME_OFFSET(f) ((f) & ((1ULL << FRAME_OFFSET_BITS) - 1))

#endif /* FRAME_H */
