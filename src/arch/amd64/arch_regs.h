/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What unwinding needs to know about amd64: register numbers (System V psABI, "DWARF Register
 * Number Mapping"), the signal frame (arch/x86/include/asm/sigframe.h, struct rt_sigframe).
 * Another architecture provides the same names.
 */
#ifndef ARCH_REGS_H
#define ARCH_REGS_H

#define UNW_NR_REGS 16
#define UNW_REG_FP 6 /* rbp */
#define UNW_REG_SP 7 /* rsp */
#define UNW_REG_BX 3 /* rbx: the other register that a CFA is computed from */
#define UNW_REG_IP 16 /* the return address */
#define UNW_REG_RESULT 0 /* rax: result of a system call */

/* The frame pointer chain: {caller's frame pointer, return address}. */
#define UNW_FP_CFA 16

/* In a signal frame the general registers are at stack pointer + this, in the kernel's order. */
#define UNW_SIGNAL_OFF 40
#define UNW_SIGNAL_WORDS 17
#define UNW_SIGNAL_FP 10
#define UNW_SIGNAL_BX 11
#define UNW_SIGNAL_SP 15
#define UNW_SIGNAL_IP 16
/* The index there of each register in DWARF order. */
#define UNW_SIGNAL_ORDER                                             \
	{                                                            \
		13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7 \
	}

/* Registers of an interrupted program by DWARF number, from the kernel's struct pt_regs. */
#define UNW_FROM_PT_REGS(dst, regs)      \
	do {                             \
		(dst)[0] = (regs)->rax;  \
		(dst)[1] = (regs)->rdx;  \
		(dst)[2] = (regs)->rcx;  \
		(dst)[3] = (regs)->rbx;  \
		(dst)[4] = (regs)->rsi;  \
		(dst)[5] = (regs)->rdi;  \
		(dst)[6] = (regs)->rbp;  \
		(dst)[7] = (regs)->rsp;  \
		(dst)[8] = (regs)->r8;   \
		(dst)[9] = (regs)->r9;   \
		(dst)[10] = (regs)->r10; \
		(dst)[11] = (regs)->r11; \
		(dst)[12] = (regs)->r12; \
		(dst)[13] = (regs)->r13; \
		(dst)[14] = (regs)->r14; \
		(dst)[15] = (regs)->r15; \
	} while (0)

#endif /* ARCH_REGS_H */
