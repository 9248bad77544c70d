// SPDX-License-Identifier: GPL-2.0-only
#include "cmd.h"

int cmd_offcpu(int argc, char **argv)
{
	(void)argc;
	return cmd__usage_error(argv[0], "%s", "is not there yet");
}
