#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program runs on one CPU after the other: its calls on each of them are recorded, with either
# backend.  Prints what a recording costs before it begins, which grows with the number of CPUs.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

event=syscalls:sys_enter_getppid
# nproc does not count isolated CPUs
for i in $(sed -n 's/^processor.*: //p' /proc/cpuinfo); do
	echo "\"$PROG/getppid\" 100 $i >/dev/null" >>all
done
nr=$(wc -l <all)

# each BACKEND: all calls are recorded, 100 on each CPU.
each()
{
	record --backend "$1" -e $event -o each.stk -- sh all
	want_sum each.stk
	"$STACKONCE" script --json --fields cpu --event $event --comm getppid each.stk |
		sort | uniq -c | awk '$1 != 100 { print } END { print NR }' >counts
	[ "$(cat counts)" = "$nr" ] || {
		cat counts
		fail "not 100 calls on each of $nr CPUs with $1"
	}
}

need_tracefs
each ftrace
each bpf
# shellcheck disable=SC2016 # a jq program
note "$(info_of each.stk -r --arg cpus "$nr" '.meta |
	"\($cpus) CPUs: loaded in \(.["cost.load_ns"] | tonumber / 1e6 | floor) ms, " +
	"attached in \(.["cost.attach_ns"] | tonumber / 1e6 | floor) ms; " +
	"\(.["cost.kernel_map_bytes"] | tonumber / 1e6 | floor) MB in the kernel, " +
	"\(.["cost.recorder_peak_bytes"] | tonumber / 1e6 | floor) MB of the recorder"')"
