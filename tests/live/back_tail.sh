#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Native events take the old way while they happen: from then on the kernel fills their records.  No
# event is lost by that, missing or recorded twice, whichever program the kernel calls first.  The
# recorder is the command with a plan of events, see tests/live/prog/way_back.c.
# timeout: 2400
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
command=$STACKONCE
STACKONCE=$PROG/way_back
stacks=$(scale --user-stacks --no-user-stacks)
export WAY_BACK

# until_back NR COMMAND: writes load.sh, which repeats the command until NR events have taken the
# old way, and then once more.
until_back()
{
	cat >load.sh <<EOF
until [ "\$(grep -c '^back ' record.err)" -ge $1 ]; do
	$2 || exit 1
done
$2
EOF
}

# back OPTIONS...: records load.sh, with --fields native.  The events of $WAY_BACK take the old way,
# and the recording says so.
back()
{
	# shellcheck disable=SC2086 # options and their values
	record $roomy --fields native -o back.stk "$@" -- sh load.sh
	want_sum back.stk
	# shellcheck disable=SC2086 # an event and its number of events
	set -- $WAY_BACK
	while [ $# -gt 0 ]; do
		took_it "$1"
		shift 2
	done
}

took_it()
{
	since=$(sed -n "s/^back $1 \([0-9]*\) .*/\1/p" record.err)
	[ -n "$since" ] || fail "$1: $(cat record.err)"
	info_true back.stk --arg e "$1" --argjson since "$since" \
		'.events[] | select(.name == $e) | .kernel_fields_since == $since' ||
		fail "$1: not since $since: $(info_of back.stk -c .events)"
	note "$(sed -n "s/^back \($1\) [0-9]* /\1 /p" record.err)"
}

# Values of an event in lines "CPU TID LATE VALUES...", in their order, of tasks of this name, if
# $of is set; LATE: true if the kernel filled its fields.
values_of()
{
	event=$1
	shift
	[ "$(counted back.stk "$event" lost)" -eq 0 ] ||
		fail "$event: $(info_of back.stk -c .events)"
	since=$(info_of back.stk --arg e "$event" \
		'.events[] | select(.name == $e) | .kernel_fields_since')
	"$STACKONCE" script --json --event "$event" ${of:+--comm "$of"} back.stk |
		jq -r --argjson since "$since" '[.cpu, .tid, .ts >= $since,
			(.fields[$ARGS.positional[]])] | join(" ")' --args "$@" >values
	for late in false true; do
		grep -q "^[0-9]* [0-9]* $late" values ||
			fail "$event: none of $(wc -l <values) events is $late"
	done
}

calls=2000; of=
# Events that interrupt the programs that record them.  Nothing is allocated, freed or faulted in
# twice in a row.
until_back 3 "'$PROG/badframe' $calls"
WAY_BACK='exceptions:page_fault_kernel 100 kmem:kmalloc 100 kmem:kfree 100'
back -a --user-stacks=fp -e exceptions:page_fault_kernel,kmem:kmalloc,kmem:kfree,kmem:mm_page_free
"$STACKONCE" script --json back.stk | jq -r 'select(.type == "event" and .fields and
	.fields.ptr != "0x0") | "\(.cpu) \(.event) \(.tid) \(.kstack) \(.fields)"' >nested
awk 'last[$1] == $0 { print }
	{ last[$1] = $0 }' nested >twice
[ ! -s twice ] || fail "twice: $(cat twice)"
note "nested: $(info_of back.stk -c '[.events[] | {name, recorded, lost, fields_missing}]')"

# The recording ends before, while or after an event takes the old way.
for ms in $(scale '1 40 80 120 160 200 240 280' '1 1000 2000'); do
	WAY_BACK="sched:sched_switch -$ms"
	# shellcheck disable=SC2086
	record $roomy --fields native $stacks -o ends.stk -e sched:sched_switch -- sleep \
		"$(scale 0.2 1)"
	want_sum ends.stk
	note "ended after $ms ms: $(grep '^back' record.err)"
done

# If the kernel refuses the program, the event stays native, and a message says so.
WAY_BACK='sched:sched_switch 10'
export WAY_BACK_REFUSED=1
until_back 1 "'$PROG/pingpong' 100"
# shellcheck disable=SC2086
record $roomy --fields native $stacks -o refused.stk -e sched:sched_switch -- sh load.sh
unset WAY_BACK_REFUSED
want_sum refused.stk
grep -q "^back sched:sched_switch failed -1" record.err || fail "not refused: $(cat record.err)"
grep -q 'cannot let the kernel fill the records of sched:sched_switch: Operation not permitted' \
	record.err || fail "no message: $(cat record.err)"
[ "$(counted refused.stk sched:sched_switch recorded)" -gt 200 ] ||
	fail "not recorded: $(info_of refused.stk -c .events)"
[ "$(info_of refused.stk '.meta["fields.kernel"]')" = null ] || fail "the recording says otherwise"
