// SPDX-License-Identifier: GPL-2.0-only
/* limited RECORDINGS COMMAND...: runs it within the limits of limits.h for so many recordings. */
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../limits.h"

int main(int argc, char **argv)
{
	if (argc < 3 || atoi(argv[1]) < 1)
		errx(2, "usage: limited RECORDINGS COMMAND...");
	limit_all(atoi(argv[1]));
	execv(argv[2], argv + 2);
	err(127, "%s", argv[2]);
}
