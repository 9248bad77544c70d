#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rows of syscall.c's table: { "name", number }, sorted.  $@: the C compiler.
set -eu
printf '#include <asm/unistd_64.h>\n' | "$@" -E -dM -x c - |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9]*\)$/\t{ "\1", \2 },/p' | LC_ALL=C sort
