#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All wakeups by a command are recorded although they happen while another tracer's BPF programs
# run: where the kernel fills the records, it then skips the recorder program, and the counter
# program records the event instead.  ftrace counts the wakeups.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
n=$(scale 2000 300)
comm=sl$$
cp "$PROG/sleeper" $comm
new_instance
follow_init
echo "comm == \"$comm\"" >"$instance/events/sched/sched_waking/filter"
record_bg -a --fields kernel -o other.stk -e 'raw_syscalls:*'
"$PROG/getppid" 100000000 >/dev/null &
busy=$!
test_pids="$test_pids $busy"

# check WAY
check()
{
	echo >"$instance/trace"
	echo 1 >"$instance/events/sched/sched_waking/enable"
	# shellcheck disable=SC2086 # an option and its value
	record $roomy --fields "$1" -o mine.stk -e sched:sched_waking -- ./$comm "$n"
	echo 0 >"$instance/events/sched/sched_waking/enable"
	want_sum mine.stk
	all=$(grep -c 'sched_waking:' "$instance/trace")
	truth=$(seen_by_bpf <"$instance/trace" | grep -c 'sched_waking:')
	[ "$truth" -gt 0 ] || fail "BPF could see none of $all wakeups: this tested nothing"
	"$STACKONCE" stacks --json mine.stk >/dev/null || fail "stacks ended with $?"
	"$STACKONCE" script --json mine.stk >mine.json || fail "script ended with $?"
	bare=$(jq -s '[.[] | select(.type == "event" and .fields == null)] | length' mine.json)
	[ "$bare" -eq 0 ] || fail "$1: $bare events have no fields"
	mine=$(jq -s --arg comm $comm '[.[] | select(.fields.comm == $comm)] | length' mine.json)
	lost=$(counted mine.stk sched:sched_waking lost)
	[ "$((mine + lost))" -ge "$truth" ] ||
		fail "$1: $mine recorded and $lost lost of $truth wakeups"
	[ "$lost" -le 4 ] || fail "$1: $lost of $truth wakeups lost"
	note "$1: $mine recorded, $lost lost; BPF can see $truth of the $all that ftrace has"
}

check native
check kernel
kill -KILL "$busy"
stop_recorder
