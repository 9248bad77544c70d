/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Counts the events of a recording, as a program outside of this project. */
#include <stackonce.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const struct stk_event *e;
	struct stk_reader *r;
	unsigned long n = 0;

	if (argc != 2 || stk_reader__open(argv[1], NULL, &r))
		return 1;
	while (stk_reader__next(r, &e) == 1)
		n++;
	stk_reader__free(r);
	printf("%lu\n", n);
	return 0;
}
