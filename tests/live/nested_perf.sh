#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf's own walk of a user stack causes page faults: perf then drops the tracepoint for all users,
# but the counter program records it, and no event is lost without a reason.
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
# shellcheck disable=SC2086 # an option and its value
record -a $roomy --no-user-stacks -o faults.stk -e exceptions:page_fault_kernel -- \
	"$PROG/badframe" "$n"
end_child INT "$perf"
want_sum faults.stk
happened=$(counted faults.stk exceptions:page_fault_kernel happened)
recorded=$(counted faults.stk exceptions:page_fault_kernel recorded)
[ "$happened" -ge "$n" ] || skip "perf's stack walk does not fault here: only $happened faults"
lost=$(counted faults.stk exceptions:page_fault_kernel lost)
[ "$lost" -le 4 ] || fail "$recorded of $happened faults recorded"
unknown=$("$STACKONCE" info --json faults.stk | jq '.totals.lost_by.unknown')
[ "$unknown" -eq 0 ] || fail "$unknown events are lost for an unknown reason"
note "$recorded of $happened faults recorded"
