#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# compile.sh CPU: the workload "compile" of bench/record.sh, which exports the variables; prints its
# cost per event.
cd "$work" || exit
"$measure" cc.cost taskset -c "$1" cc -c -D_GNU_SOURCE -I"$src" -I"$src/include" -I"$src/base" \
	"$src"/base/*.c "$src"/events/filter*.c && cat cc.cost
