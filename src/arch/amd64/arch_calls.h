/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a filter of system calls must know of amd64: what seccomp(2) calls it, where a call's numbers
 * end, and the registers that a call's arguments and result are in.  Another architecture is another
 * header with the same names.
 */
#ifndef ARCH_CALLS_H
#define ARCH_CALLS_H

#include <linux/audit.h>
#include <stdint.h>
#include <ucontext.h>

#define ARCH_CALLS_AUDIT AUDIT_ARCH_X86_64
#define ARCH_CALLS_END 0x40000000u /* from here on: x32, with other arguments */

static inline uint64_t arch_calls__arg(const ucontext_t *context, unsigned int nr)
{
	static const int registers[] = { REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9 };

	return context->uc_mcontext.gregs[registers[nr]];
}

static inline void arch_calls__set_result(ucontext_t *context, long result)
{
	context->uc_mcontext.gregs[REG_RAX] = result;
}

#endif /* ARCH_CALLS_H */
