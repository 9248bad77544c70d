/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program in which the tests place probes.  Every function has a number of eight bytes, two
 * bytes after its start, in an instruction of ten bytes, by which the tests find it in the file.
 */
	.macro mark nr
	movabs $0x5ca1ab1e00c0de00 + \nr, %rax
	.endm
	.macro begin name, bind, nr
	.\bind \name
	.type \name, @function
\name:	mark \nr
	.endm
	.macro finish name
	ret
	.size \name, . - \name
	.endm

	.text
	.globl _start
	.type _start, @function
_start:	hlt
	.size _start, . - _start

	begin alone, globl, 1
	finish alone
	.globl alias
	.type alias, @function
	.set alias, alone
	.size alias, 11
	begin twice, local, 2
	finish twice
	begin _ZN2ns3addEii, globl, 4
	finish _ZN2ns3addEii
	begin _ZN2ns2ofEi, globl, 5
	finish _ZN2ns2ofEi
	begin _ZN2ns2ofEPc, globl, 6
	finish _ZN2ns2ofEPc
	.globl chosen
	.type chosen, @gnu_indirect_function
chosen:	mark 7
	finish chosen
	begin group_one, globl, 8
	finish group_one
	begin group_two, globl, 9
	finish group_two

	.data
	.globl data_one
	.type data_one, @object
	.size data_one, 8
data_one: .quad 0x5ca1ab1e00c0de00 + 20
	.section .note.GNU-stack, "", @progbits
