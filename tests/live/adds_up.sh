#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# happened = recorded + filtered + lost, exactly and per event: in a quiet run, with rings too small
# for the load, with a stack map too small for the stacks, and with events nested in one another.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# Causes events of all types: switches, system calls, forks, file reads and writes.
busy()
{
	"$PROG/pingpong" "$(scale 10000 2000)" 0 >/dev/null &
	a=$!
	"$PROG/getppid" "$(scale 60000 10000)" >/dev/null &
	b=$!
	"$PROG/forktree" 3 3 20 >/dev/null
	find /proc/[0-9]* /sys/kernel -maxdepth 2 2>/dev/null | head -n "$(scale 1000 300)" |
		tr a b | wc -l >/dev/null
	wait "$a" "$b"
}

# run_case NAME RECORD-OPTIONS...: checks the sums of a recording; HOLD=1 stops the recorder for a
# while.
run_case()
{
	name=$1
	shift
	record_bg -a -o "$name.stk" "$@"
	if [ -n "${HOLD:-}" ]; then
		kill -STOP "$recorder"
		busy
		kill -CONT "$recorder"
	fi
	sleep "${longer:-0}"
	busy
	stop_recorder
	want_sum "$name.stk"
	note "$name: $(info_of "$name.stk" -c '.totals')"
}

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy -o quiet.stk -e sched:sched_switch
sleep 1
stop_recorder
want_sum quiet.stk
[ "$(info_of quiet.stk .totals.lost)" -le "$(($(nproc) * 2))" ] || fail "a quiet run lost events"

HOLD=1 run_case rings --buffer-size 64K -e sched:sched_switch -e raw_syscalls:sys_enter
[ "$(info_of rings.stk .totals.lost_by.ring)" -gt 0 ] ||
	fail "64 KiB rings did not overflow: this tested nothing"

load=
if [ -z "${LIVE_VM:-}${LIVE_STRESS:-}" ]; then # with LIVE_STRESS, run.sh has started it
	"$PROG/load" &
	load=$!
	test_pids="$test_pids $load"
fi
run_case map --stack-map-bits 10 --stack-pool 64K -e 'sched:*' -e 'kmem:*' \
	-e raw_syscalls:sys_enter
[ "$(info_of map.stk .stacks.fallbacks)" -gt 0 ] ||
	fail "a map of 2^10 did not fill: this tested nothing"
info_true map.stk '[.events[].witness] | unique ==
	["counter_program", "kernel", "second_program"]' ||
	fail "other witnesses: $(info_of map.stk -c '.events[] | {name, witness}')"

# missing FILE: prints the native events of FILE that lack fields.
missing()
{
	info_of "$1" -r --argjson native "$native" '.events[] |
		select(.fields_missing > 0 and IN(.name; $native[])) |
		"\(.name): fields missing in \(.fields_missing) of \(.recorded)"'
}

# Where the kernel fills the records, interrupts hit the second program of one event and run that of
# another.  How often depends on the machine: it is recorded until that was enough.  The records of
# those that can be native are made of the tracepoint's arguments.
if [ -z "${LIVE_VM:-}" ]; then
	native=$(info_of map.stk '.meta."events.native" | split(", ")')
	missing map.stk >missing
	hit=0
	for i in 1 2 3 4 5 6; do
		[ "$hit" -le 100 ] || break
		rm -f interrupted.stk # record_bg waits for a new one
		longer=2 run_case interrupted --fields kernel --stack-map-bits 10 --stack-pool 64K \
			-e 'sched:*' -e 'kmem:*' -e raw_syscalls:sys_enter
		missing interrupted.stk >>missing
		hit=$((hit + $(info_of interrupted.stk '[.events[].fields_missing] | add')))
	done
	[ -z "$load" ] || kill "$load"
	[ "$hit" -gt 100 ] || fail "$hit events were nested in $i recordings: this tested nothing"
	[ ! -s missing ] || fail "native events have no fields: $(cat missing)"
fi

run_case nested -e 'irq:*' -e 'sched:*' -e 'timer:*' -e 'syscalls:sys_*'
[ "$(info_of nested.stk '[.events[] | select(.recorded > 0)] | length')" -ge 8 ] ||
	fail "few events happened: this tested nothing"
