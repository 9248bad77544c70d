// SPDX-License-Identifier: GPL-2.0-only
/* The smallest tagged program: no library, one call, exit. */
#include "tag_code.h"

__attribute__((used, noreturn)) static void tiny_main(void)
{
	unsigned long r = tag_a(1);

	TAG_KEEP(r);
	__asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11", "memory");
	__builtin_unreachable();
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call tiny_main\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size _start, .-_start\n");
