/* SPDX-License-Identifier: GPL-2.0-only */
/* A library in which the name `changed` has an old version and a default one. */
	.text
	.globl changed_old
	.type changed_old, @function
changed_old:
	movabs $0x5ca1ab1e00c0de00 + 10, %rax
	ret
	.size changed_old, . - changed_old
	.globl changed_new
	.type changed_new, @function
changed_new:
	movabs $0x5ca1ab1e00c0de00 + 11, %rax
	ret
	.size changed_new, . - changed_new
	.symver changed_old, changed@V1
	.symver changed_new, changed@@V2
	.section .note.GNU-stack, "", @progbits
