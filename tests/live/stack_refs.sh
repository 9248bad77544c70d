#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recorder counts no references in its stack map, whose counters all CPUs would write: neither
# for stacks that are looked up nor for remembered ones, kernel or user.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

"$PROG/getppid" 1000000000 >/dev/null &
work_pid=$!
test_pids="$test_pids $work_pid"
record_bg -p "$work_pid" --user-stacks -e syscalls:sys_enter_getppid -e sched:sched_switch \
	-o refs.stk
sleep 1
"$PROG/recorder_maps" "$recorder" refs >counted || fail "the recorder's stack map cannot be read"
stop_recorder
cat counted
[ "$(sed -n 's/^stacks //p' counted)" -gt 0 ] || fail "the stack map is empty"
info_true refs.stk '.stacks.hits > 100 and .user_stacks.hit > 100' || {
	info_of refs.stk '.stacks, .user_stacks'
	fail "too few stacks were found in the stack map"
}
[ "$(sed -n 's/^references //p' counted)" -eq 0 ] || fail "the stacks have references"
