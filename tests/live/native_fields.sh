#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Events whose records the recorder's programs fill from a tracepoint's arguments are the same as
# those that the kernel fills: two recorders record the same events at the same time, each in one
# way, and every event of one is in the other, with its task, fields and stacks.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
# timeout: 2400

types='sched:sched_switch sched:sched_wakeup sched:sched_wakeup_new sched:sched_waking
	irq:softirq_entry irq:softirq_exit irq:softirq_raise exceptions:page_fault_user'

# compare NAME OPTIONS...: records both ways beside a load, and compares the recordings.
compare()
{
	name=$1
	shift
	# shellcheck disable=SC2086 # words
	list=$(echo $types | tr ' ' ,)
	rm -f kernel.stk native.stk # they appear when the programs are armed
	# shellcheck disable=SC2086 # an option and its value
	record_bg -a --include-self $roomy --fields kernel -e "$list" -o kernel.stk "$@"
	kernel=$recorder
	# shellcheck disable=SC2086
	record_bg -a --include-self $roomy --fields native -e "$list" -o native.stk "$@"
	native=$recorder
	sleep "$(scale 0 2)" # the times at both ends that are not compared
	"$PROG/pingpong" "$(scale 30000 3000 100000)"
	i=0
	while [ $i -lt "$(scale 60 8 200)" ]; do
		i=$((i + 1))
		"$PROG/sleeper" 2 >/dev/null
		(true; false) | cat | sleep 0.001
	done
	sleep "$(scale 0 2)"
	for recorder in "$native" "$kernel"; do
		stop_recorder
	done
	want_sum kernel.stk
	want_sum native.stk
	"$STACKONCE" info native.stk | grep -q "^Native .*${types%% *}" ||
		fail "info does not name the native events: $("$STACKONCE" info native.stk)"
	[ "$(info_of native.stk .totals.lost)" -eq 0 ] ||
		note "native: $(info_of native.stk -c .totals.lost_by)"
	[ "$(info_of kernel.stk .totals.lost)" -eq 0 ] ||
		note "kernel: $(info_of kernel.stk -c .totals.lost_by)"
	"$PROG/same_events" "$(scale 20 500)" native.stk kernel.stk >out ||
		fail "the comparison ended with $?"
	sed -n 's/^\(.* same .*\)/# \1/p' out
	for e in $types; do
		same=$(sed -n "s/^$e same \([0-9]*\) .*/\1/p" out)
		[ "${same:-0}" -ge "$(scale 100 5)" ] || {
			cat out
			fail "$name: ${same:-0} equal $e"
		}
	done
	# what an event says of another task may change between the two programs, and one way may
	# lose an event, or its fields, that the other has
	lost=$(($(info_of native.stk .totals.lost) + $(info_of kernel.stk .totals.lost)))
	awk -v lost="$lost" '/ same / && ($7 > 3 + $3 / 1000 + lost + $13 ||
			$9 > 3 + $3 / 1000 + lost + $11) { exit 1 }' out || {
		cat out
		fail "$name: events differ"
	}
}

calls='raw_syscalls:sys_enter raw_syscalls:sys_exit syscalls:sys_enter_openat
	syscalls:sys_exit_openat syscalls:sys_enter_execve syscalls:sys_enter_read'
nesting='kmem:kmalloc kmem:kfree exceptions:page_fault_kernel'
compare 'kernel stacks' --no-user-stacks
[ -z "${LIVE_VM:-}" ] || exit 0 # the others take many minutes there
compare 'user stacks' --user-stacks
compare 'no stacks' --no-user-stacks --no-kernel-stacks
types=$calls
compare 'system calls' --user-stacks
types=$nesting
compare 'events that nest' --no-user-stacks
