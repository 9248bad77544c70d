// SPDX-License-Identifier: GPL-2.0-only
/* limited COMMAND...: runs it within the limits of limits.h. */
#include <err.h>
#include <unistd.h>

#include "../../limits.h"

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: limited COMMAND...");
	limit_all();
	execv(argv[1], argv + 1);
	err(127, "%s", argv[1]);
}
