/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * USDT notes.  The note of `moved` is 0x40 too low, and so is its base note, as after a linker has
 * moved code.  Invalid notes are among the valid ones.
 */
	.macro place nr
990\nr:	movabs $0x5ca1ab1e00c0de00 + \nr, %rax
	.endm
	.macro note pc, base, provider, name, args
	.pushsection .note.stapsdt, "", "note"
	.balign 4
	.4byte 8, 2f - 1f, 3
	.asciz "stapsdt"
1:	.8byte \pc, \base, 0
	.asciz "\provider"
	.asciz "\name"
	.asciz "\args"
2:	.balign 4
	.popsection
	.endm

#define MANY_ARGUMENTS "1@1 1@2 1@3 1@4 1@5 1@6 1@7 1@8 1@9 1@10 1@11 1@12 1@13"

	.text
	.globl _start
	.type _start, @function
_start:
	place 1
	note 9901b, _.stapsdt.base, app, request, "-4@%edi 8@%rsi"
	place 2
	note 9902b, _.stapsdt.base, app, request, "-4@$5 4@-8(%rbp)"
	place 3
	note 9903b-0x40, _.stapsdt.base-0x40, app, moved, "-1@%al 2@%ax -8@%rbx"
	place 4
	note 9904b, _.stapsdt.base, other, request, ""
	note 9904b, _.stapsdt.base, app, float, "8f@%xmm0 8@%rax"
	note 9904b, _.stapsdt.base, app, many, MANY_ARGUMENTS
	note 9904b, _.stapsdt.base, "a:b", colon, ""
	note 9904b, _.stapsdt.base, app, "white space", ""
	note 9904b, _.stapsdt.base, app, "", ""
	note 0x7fffffffffff, _.stapsdt.base, app, nowhere, ""
	.pushsection .note.stapsdt, "", "note"
	.balign 4
	.4byte 8, 24 + 4, 3 /* strings that are not terminated */
	.asciz "stapsdt"
	.8byte 9904b, _.stapsdt.base, 0
	.ascii "abcd"
	.4byte 4, 0, 1 /* another note type */
	.asciz "GNU"
	.popsection
	ret
	.size _start, . - _start

	.section .stapsdt.base, "aG", "progbits", .stapsdt.base, comdat
	.weak _.stapsdt.base
	.hidden _.stapsdt.base
_.stapsdt.base: .space 1
	.size _.stapsdt.base, 1
	.section .note.GNU-stack, "", @progbits
