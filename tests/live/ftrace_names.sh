#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without BPF, the names of tasks follow events.  While the recorder does not get to run, some of
# these are lost: the tasks whose names are unknown then are named <...>, and none has a wrong name.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

n=16000 # events of some 50 bytes, in a ring of 512 KiB

# has_events NUMBER: they are in the recording
has_events()
{
	[ "$(printed names.stk 2>/dev/null)" -ge "$1" ]
}

while :; do
	"$PROG/renames" 0 0
	sleep 0.1
done &
first=$!
test_pids="$test_pids $first"
# shellcheck disable=SC2086 # an option and its value
"$STACKONCE" record --backend ftrace --no-kernel-stacks --no-user-stacks $roomy \
	-e syscalls:sys_enter_getresgid -o names.stk 2>record_bg.err &
recorder=$!
test_pids="$test_pids $recorder"
wait_armed "$recorder" names.stk
end_child TERM "$first"
kill -STOP "$recorder"
"$PROG/renames" 1 $n || fail "the load failed"
kill -CONT "$recorder"
until_true 60 has_events $n || fail "the recorder does not go on"
"$PROG/renames" $((n + 1)) $((n + 50)) || fail "the load failed"
stop_recorder
want_sum names.stk
[ "$(info_of names.stk .totals.lost)" -eq 0 ] || fail "events were lost"

"$STACKONCE" script --json names.stk |
	jq -r 'select(.type == "event") | "\(.fields.rgidp) \(.comm)"' |
	while read -r number name; do
		echo $((number)) "$name"
	done >names
# Where another program calls getresgid, the argument is an address.
awk -v n=$n '
	$1 > n + 50 { next }
	{ calls++ }
	$2 == "r" $1 { known++; next }
	$2 != "<...>" { print "r" $1, "is named", $2; bad = 1; next }
	{ unknown++ }
	$1 > n { print "the name", $1, "is unknown after the loss"; bad = 1 }
	END {
		print known + 0, "named,", unknown + 0, "unknown"
		exit bad || calls < n + 50 || !unknown
	}' names >counts || fail "$(tail -n 20 counts)"
grep -q 'changes of tasks were lost' record_bg.err || fail "no warning: $(cat record_bg.err)"
note "$(tail -n 1 counts)"
