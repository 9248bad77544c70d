#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Instructions for an event: without a stack, with a full one, with an id.  The machine counts them:
# a nanosecond of its clock is an instruction.
# needs: variant=default smp=1 accel=single mem=1024 alone qemu="-icount shift=0"
# timeout: 600
. "$TESTS/lib.sh"

dir=$tracefs

# cost KIND TIMES: the best of three
cost()
{
	for _ in 1 2 3; do
		"$TESTS/load" "$1" "$2"
	done | sort -n | head -n 1
}

summary=
# compare NAME KIND TIMES EVENT...
compare()
{
	name=$1
	kind=$2
	times=$3
	shift 3
	echo 0 >"$dir/options/stacktrace"
	echo 0 >"$dir/options/stackmap"
	off=$(cost "$kind" "$times")
	for event in "$@"; do
		echo 1 >"$dir/events/$event/enable"
	done
	plain=$(cost "$kind" "$times")
	echo 1 >"$dir/options/stacktrace"
	full=$(cost "$kind" "$times")
	echo 1 >"$dir/options/stackmap"
	ids=$(cost "$kind" "$times")
	echo 0 >"$dir/events/enable"
	line=$(echo "$off $plain $full $ids" | awk '{
		printf "event %.0f, stack %.0f, id %.0f", $2 - $1, $3 - $2, $4 - $2 }')
	echo "$name: $line instructions"
	summary="$summary $name: $line;"
	echo "$off $plain $full $ids" |
		awk '{ exit !($4 - $2 < 1.5 * ($3 - $2)) }' ||
		fail "$name: an id takes half as long again as a full stack"
}

echo 1 >"$dir/tracing_on"
compare getppid getppid 20000 syscalls/sys_enter_getppid
compare fault fault 5000 exceptions/page_fault_user
compare sched pingpong 2000 sched/sched_switch
note "instructions per$summary"
