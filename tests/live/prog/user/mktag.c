// SPDX-License-Identifier: GPL-2.0-only
/* mktag TEMPLATE PATH TAG: writes a copy of a tagged file with another tag to PATH. */
#include <string.h>

#include "../prog.h"
#include "tag.h"

int main(int argc, char **argv)
{
	int rc;

	if (argc != 4)
		errx(2, "usage: mktag TEMPLATE PATH TAG");
	rc = tag__write(argv[1], argv[2], arg_number(argc, argv, 3, 0, TAG_MAX - 1));
	if (rc)
		errx(1, "%s from %s: %s", argv[2], argv[1], strerror(-rc));
	return 0;
}
