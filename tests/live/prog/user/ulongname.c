// SPDX-License-Identifier: GPL-2.0-only
/* ulongname [CALLS]: futex calls of a function that has a name of 2 MiB. */
#include <linux/futex.h>

#include "../prog.h"

#define TWICE_(x) x##x
#define TWICE(x) TWICE_(x)
#define TIMES_16(x) TWICE(TWICE(TWICE(TWICE(x))))
#define NAME TWICE(TIMES_16(TIMES_16(TIMES_16(TIMES_16(a_name_of_16_bytes)))))

__attribute__((noinline)) void NAME(unsigned long calls);
void NAME(unsigned long calls)
{
	while (calls--)
		syscall(SYS_futex, calls, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	NAME(arg_number(argc, argv, 1, 10, 1000000));
	return 0;
}
