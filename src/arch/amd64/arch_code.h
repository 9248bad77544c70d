/* SPDX-License-Identifier: GPL-2.0-only */
/* What amd64 machine code tells where no table does. */
#ifndef ARCH_CODE_H
#define ARCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* rt_sigreturn(2), and nothing before: where a signal handler returns to. */
bool arch_code__is_sigreturn(const uint8_t *p, size_t len);
/* A program's first instructions: they take the stack pointer for what the kernel put there. */
bool arch_code__is_entry(const uint8_t *p, size_t len);
/*
 * How many bytes long the instruction is that stores the frame pointer at stack pointer + off: the
 * one of those that compilers choose.
 */
unsigned int arch_code__store_fp_len(uint32_t off);
/* The instruction at p stores the frame pointer there. */
bool arch_code__stores_fp(const uint8_t *p, size_t len, uint32_t off);
/* A system call whose result is looked at, as clone(2) by hand. */
bool arch_code__is_fork(const uint8_t *p, size_t len);
/*
 * clone(2) as musl calls it: behind the system call so many bytes run in the parent or in the child,
 * which then clears its frame pointer.  0: it is none.
 */
unsigned int arch_code__clone_len(const uint8_t *p, size_t len);
/* Nothing but instructions that fill up to an alignment. */
bool arch_code__is_padding(const uint8_t *p, size_t len);
/* The byte is an instruction that pushes the frame pointer. */
bool arch_code__pushes_fp(uint8_t byte);

/* A stub of the procedure linkage table, of at least 8 bytes. */
enum arch_stub {
	ARCH_STUB_UNKNOWN,
	ARCH_STUB_PUSHES, /* value: a relocation's number, which it pushes for the loader */
	ARCH_STUB_JUMPS, /* value: how far behind the stub's start lies the slot that it jumps through */
};
enum arch_stub arch_code__stub(const uint8_t *p, size_t len, int64_t *ret_value);

#endif /* ARCH_CODE_H */
