#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without BPF, with rings so small that most events are lost: recorded and lost events are exactly
# those that happened, whether the ring was full at an event or at one of its stacks; info says so.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

n=$(scale 50000 5000)
event=syscalls:sys_enter_getppid

# adds_up FILE: the recorded and lost events are the program's N calls.
adds_up()
{
	want_sum "$1"
	recorded=$(counted "$1" $event recorded)
	lost=$(info_of "$1" .totals.lost)
	[ $((recorded + lost)) -eq "$n" ] ||
		fail "$1: $recorded recorded and $lost lost, together not $n"
	[ "$recorded" -gt 0 ] || fail "$1: nothing was recorded"
	# how many depends on the machine: a slow program loses few
	[ "$lost" -gt 0 ] || fail "$1: nothing was lost: the ring is too large for this test"
	[ "$(info_of "$1" .totals.happened)" -eq "$n" ] ||
		fail "$1: info says that $(info_of "$1" .totals.happened) events happened, not $n"
	[ "$(info_of "$1" '[.events[].lost_by.ring] | add')" -eq "$lost" ] || {
		info_of "$1" .events
		fail "$1: not all losses have the reason ring"
	}
	"$STACKONCE" info "$1" | grep -q "lost by: ring" ||
		fail "info does not print the reason of the losses"
	armed=$(info_of "$1" -r '.meta["clock.ts"]')
	"$STACKONCE" script --json "$1" | jq -s --argjson armed "$armed" \
		'[.[] | select(.type == "loss").ts] | length > 0 and min >= $armed' >since
	[ "$(cat since)" = true ] ||
		fail "$1: script prints no loss, or one that begins before the recording"
	# each event has its kernel stack, or its stack is counted as failed
	info_true "$1" '.stacks | .lookups + .failed == '"$recorded" || {
		info_of "$1" .stacks
		fail "$1: the number of stacks does not match the number of events"
	}
}

for how in --no-user-stacks --user-stacks; do
	record --backend ftrace --buffer-size 8k $how -e $event -o "loss$how.stk" -- \
		"$PROG/getppid" "$n"
	adds_up "loss$how.stk"
	note "$how: $recorded recorded, $lost lost, $n happened"
done

# With several event types the type of a lost event is unknown: lost events have a row of their own.
record --backend ftrace --buffer-size 8k --no-user-stacks -e $event -e syscalls:sys_exit_getppid \
	-o two.stk -- "$PROG/getppid" "$n"
want_sum two.stk
sum=$(info_of two.stk .totals.happened)
[ "$sum" -eq $((2 * n)) ] || fail "two.stk: $sum events happened instead of $((2 * n))"
[ "$(counted two.stk ftrace:lost_events lost)" -gt 0 ] || fail "two.stk: nothing was lost"
[ "$(counted two.stk $event lost)" -eq 0 ] || fail "two.stk: losses are assigned to one event type"
