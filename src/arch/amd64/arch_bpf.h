/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What BPF programs and their loader need to know about amd64: registers in struct pt_regs, as in
 * ptrace(2), and flags of the kernel.
 */
#ifndef ARCH_BPF_H
#define ARCH_BPF_H

#include <asm/processor-flags.h>

#define ARCH_REG_IP rip
#define ARCH_REG_SP rsp
#define ARCH_REG_FP rbp
#define ARCH_REG_BX rbx
#define ARCH_REG_FLAGS eflags
#define ARCH_REG_RESULT rax
#define ARCH_REG_CALL orig_rax /* number of the system call; negative: not in a system call */
/* Arguments of a function. */
#define ARCH_REG_ARG1 rdi
#define ARCH_REG_ARG2 rsi
#define ARCH_REG_ARG3 rdx
#define ARCH_REG_ARG4 rcx
#define ARCH_REG_ARG5 r8
#define ARCH_REG_ARG6 r9

/* The registers of a system call's arguments, and of a 32-bit one's. */
#define ARCH_CALL_ARGS(X) X(rdi) X(rsi) X(rdx) X(r10) X(r8) X(r9)
#define ARCH_CALL_ARGS_32(X) X(rbx) X(rcx) X(rdx) X(rsi) X(rdi) X(rbp)

/* Tests ARCH_REG_FLAGS: interrupts are enabled. */
#define ARCH_FLAGS_IRQS_ON(flags) ((flags)&X86_EFLAGS_IF)
/* The registers belong to a 64-bit user program (__USER_CS). */
#define ARCH_REGS_OF_USER(regs) (((__u16)(regs)->cs & 3) == 3)
#define ARCH_REGS_64(regs) ((__u16)(regs)->cs == 0x33)
#define ARCH_CALL_INSN 0x050f /* the two bytes before the ip in a system call */
/* thread_info.status, TS_COMPAT: a 32-bit system call, which has its own numbers. */
#define ARCH_STATUS_CALL_32 2

/* Stores a word after all earlier stores: the processor keeps their order. */
#define ARCH_STORE_RELEASE(at, word)                   \
	({                                             \
		__asm__ __volatile__("" ::: "memory"); \
		*(volatile __u64 *)(at) = (word);      \
	})

/*
 * Derives the reschedule bit of thread_info.flags from the bit for a pending signal: 3 from 2,
 * or since 6.18 4 from 1, as in asm-generic/thread_info_tif.h.  0: unknown.
 */
static inline unsigned int arch_bpf__resched_bit(unsigned long long flags_of_pending)
{
	return flags_of_pending & 1 << 2 ? 3 : flags_of_pending & 1 << 1 ? 4 : 0;
}

#endif /* ARCH_BPF_H */
