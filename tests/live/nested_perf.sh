#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf's own walk of a user stack causes page faults: perf then drops the tracepoint for all its
# users, but the event is recorded, also where the kernel fills the records, then by the counter
# program; and no event is lost without a reason.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tool perf
need_tracefs
n=$(scale 5000 500)
perf record -q -e syscalls:sys_enter_getppid -g -a -o perf.data >perf.log 2>&1 &
perf=$!
test_pids="$test_pids $perf"
sleep 2
# our own walk of user stacks would fault as well, in our own programs
for way in native kernel; do
	# shellcheck disable=SC2086 # an option and its value
	record -a $roomy --no-user-stacks --fields $way -o $way.stk \
		-e exceptions:page_fault_kernel -- "$PROG/badframe" "$n"
done
end_child INT "$perf"
for way in native kernel; do
	want_sum $way.stk
	happened=$(counted $way.stk exceptions:page_fault_kernel happened)
	recorded=$(counted $way.stk exceptions:page_fault_kernel recorded)
	[ "$happened" -ge "$n" ] ||
		skip "perf's stack walk does not fault here: only $happened faults"
	lost=$(counted $way.stk exceptions:page_fault_kernel lost)
	[ "$lost" -le 4 ] || fail "$way: $recorded of $happened faults recorded"
	bare=$(counted $way.stk exceptions:page_fault_kernel fields_missing)
	[ "$bare" -eq 0 ] || fail "$way: $bare of $recorded faults have no fields"
	note "$way: $recorded of $happened faults recorded"
done
