// SPDX-License-Identifier: GPL-2.0-only
/*
 * jump_kernel CALLS ADDRESS: calls the hexadecimal address, which is in the kernel, so that each
 * call faults.
 */
#include <setjmp.h>
#include <signal.h>

#include "prog.h"

static sigjmp_buf back;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

int main(int argc, char **argv)
{
	volatile unsigned long left = arg_number(argc, argv, 1, 1, 1000000);
	struct sigaction sa = { .sa_handler = on_fault };
	void (*volatile kernel)(void);

	if (argc < 3)
		errx(1, "ADDRESS is missing");
	kernel = (void (*)(void))strtoull(argv[2], NULL, 16);
	if (sigaction(SIGSEGV, &sa, NULL))
		err(1, "sigaction");
	(void)sigsetjmp(back, 1);
	if (!left--)
		return 0;
	kernel();
	errx(1, "no fault at %s", argv[2]);
}
