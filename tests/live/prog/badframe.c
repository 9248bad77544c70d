// SPDX-License-Identifier: GPL-2.0-only
/*
 * badframe [COUNT]: getppid calls with a frame pointer to unmapped memory, so that a walk of the
 * user stack by frame pointers faults in the kernel.
 */
#include "prog.h"

int main(int argc, char **argv)
{
	unsigned long n = arg_number(argc, argv, 1, 2000, 1000000), i;

	for (i = 0; i < n; i++) {
		long r = SYS_getppid;

		asm volatile("push %%rbp; mov $0x12345678000, %%rbp; syscall; pop %%rbp"
			     : "+a"(r)
			     :
			     : "rcx", "r11", "memory");
	}
	return 0;
}
