// SPDX-License-Identifier: GPL-2.0-only
/*
 * ucheck CHECK RECORDING ...: compares the user stacks of a recording with the truth that the
 * recorded programs wrote.  It reads with libstackonce, and has its own symbol lookup.
 */
#include "checks.h"

#include <err.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} checks[] = {
	{ "paths", check_paths }, { "probes", check_probes }, { "tags", check_tags },
	{ "dump", check_dump },	  { "go", check_go },	      { "gdb", check_gdb },
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < sizeof(checks) / sizeof(*checks); i++)
		if (!strcmp(argv[1], checks[i].name))
			return checks[i].run(argc - 1, argv + 1);
	errx(2, "usage: ucheck paths|probes|tags|go|gdb|dump RECORDING ...");
}
