/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognizes amd64 machine code where no unwind table applies. */
#ifndef ARCH_CODE_H
#define ARCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code calls rt_sigreturn(2) and nothing before: a signal handler's return address. */
bool arch_code__is_sigreturn(const uint8_t *p, size_t len);
/* A program's first instructions, which read from the stack pointer what the kernel put there. */
bool arch_code__is_entry(const uint8_t *p, size_t len);
/*
 * Length in bytes of the instruction that stores the frame pointer at stack pointer + off, in the
 * encoding that compilers choose.
 */
unsigned int arch_code__store_fp_len(uint32_t off);
/* The instruction at p stores the frame pointer at stack pointer + off. */
bool arch_code__stores_fp(const uint8_t *p, size_t len, uint32_t off);
/* A system call followed by a test of its result, as in hand-written clone(2). */
bool arch_code__is_fork(const uint8_t *p, size_t len);
/*
 * clone(2) as musl calls it.  Returns how many bytes after the system call run in the parent or in
 * the child, which then clears its frame pointer; 0: the code is something else.
 */
unsigned int arch_code__clone_len(const uint8_t *p, size_t len);
/* The code consists only of instructions that pad to an alignment. */
bool arch_code__is_padding(const uint8_t *p, size_t len);
/* The byte is an instruction that pushes the frame pointer. */
bool arch_code__pushes_fp(uint8_t byte);

/* A stub of the procedure linkage table, of at least 8 bytes. */
enum arch_stub {
	ARCH_STUB_UNKNOWN,
	ARCH_STUB_PUSHES, /* value: number of the relocation that it pushes for the loader */
	ARCH_STUB_JUMPS, /* value: offset from the stub's start to the slot that it jumps through */
};
enum arch_stub arch_code__stub(const uint8_t *p, size_t len, int64_t *ret_value);

#endif /* ARCH_CODE_H */
