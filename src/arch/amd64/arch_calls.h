/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a system call filter needs to know about amd64: the name for seccomp(2), the end of the
 * native call numbers, and the registers of a call's arguments and result.  Another architecture
 * provides the same names.
 */
#ifndef ARCH_CALLS_H
#define ARCH_CALLS_H

#include <linux/audit.h>
#include <stdint.h>
#include <ucontext.h>

#define ARCH_CALLS_AUDIT AUDIT_ARCH_X86_64
#define ARCH_CALLS_END 0x40000000u /* from here on: x32 calls, with other arguments */

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
