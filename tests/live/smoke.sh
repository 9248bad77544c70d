#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Records a command and reads the recording.  Arguments that cannot be read are marked.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

cd "$work" || exit 1
record -e sched:sched_switch -o out.stk -- sleep 0.2
[ "$(info_of out.stk -r .ended)" = clean ] || fail "the recording did not end cleanly"
[ "$(counted out.stk sched:sched_switch recorded)" -gt 0 ] || fail "nothing was recorded"
want_sum out.stk
"$STACKONCE" script out.stk >text || fail "script ended with $?"
grep -q ' sched_switch: ' text || fail "script prints no sched_switch"
grep -q '^ => .*schedule' text || fail "script prints no stack through schedule"
"$STACKONCE" report out.stk >text || fail "report ended with $?"
grep -q 'sched_switch' text || fail "report does not print the event"

record -e syscalls:sys_enter_execve -o argv.stk -- "$PROG/cold_argv" word
"$STACKONCE" script argv.stk | grep -q 'argv: \["true", "", "last"\].* <cut>$' || {
	"$STACKONCE" script argv.stk
	fail "an argument that is not in memory"
}
note "$(info_of out.stk -r '"\(.totals.recorded) events, \(.bytes) bytes"')"
