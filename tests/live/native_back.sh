#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016,SC2046,SC2086 # jq programs have variables of their own; words
# Native events take the old way while they happen: from then on the kernel fills their records.  No
# event is lost by that, missing or recorded twice, whichever program the kernel calls first.  The
# recorder is the command with a plan of events, see tests/live/prog/way_back.c.
# timeout: 2400
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
command=$STACKONCE
STACKONCE=$PROG/way_back
# An emulated machine takes a minute and more to verify the program with stacks.
stacks=$(scale --user-stacks '--no-user-stacks --no-kernel-stacks')
export WAY_BACK
cpu1=/sys/devices/system/cpu/cpu1/online

restore()
{
	[ -z "${LIVE_VM:-}" ] || [ ! -w $cpu1 ] || echo 1 >$cpu1
}

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

# before_front EVENTS: starts another recorder of these events; where one records an event before
# the front is attached, the kernel calls perf's program before the front.
before_front()
{
	rm -f other.stk # it appears when its events are recorded
	"$command" record -q -a --fields kernel --no-user-stacks -o other.stk -e "$1" 2>other.err &
	other=$!
	test_pids="$test_pids $other"
	wait_armed $other other.stk
}

end_other()
{
	[ -n "$other" ] || return 0
	kill -INT "$other"
	wait "$other" || fail "the other recorder ended with $?: $(cat other.err)"
}

# back OPTIONS...: records load.sh, with --fields native.  The events of $WAY_BACK take the old way,
# and the recording says so.
back()
{
	record $roomy --fields native -o back.stk "$@" -- sh load.sh
	want_sum back.stk
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

# Values of an event in lines "CPU TID LATE VALUES...", in the order of time, which that of the file
# is not where an event came late; of tasks of this name, if $of is set; LATE: true if the kernel
# filled its fields.  Nothing is lost but at the edges of the recording.
values_of()
{
	event=$1
	shift
	[ "$(counted back.stk "$event" lost)" -eq "$(counted back.stk "$event" lost_by.edge)" ] ||
		fail "$event: $(info_of back.stk -c .events)"
	since=$(info_of back.stk --arg e "$event" \
		'.events[] | select(.name == $e) | .kernel_fields_since')
	"$STACKONCE" script --json --event "$event" ${of:+--comm "$of"} back.stk |
		jq -r --argjson since "$since" '[.ts, .cpu, .tid, .ts >= $since,
			(.fields[$ARGS.positional[]])] | join(" ")' --args "$@" |
		sort -s -n -k 1,1 | cut -d ' ' -f 2- >values
	for late in false true; do
		grep -q "^[0-9]* [0-9]* $late" values ||
			fail "$event: none of $(wc -l <values) events is $late"
	done
}

# want_numbers EVENT FIELD: each thread of `numbered` made each of its calls once.
want_numbers()
{
	made=$(($(grep -c '^pid ' record.out) * calls * 2))
	values_of "$1" "$2"
	different=$(cut -d ' ' -f 2,4 values | sort | uniq | wc -l)
	{ [ "$(wc -l <values)" -eq "$made" ] && [ "$different" -eq "$made" ]; } ||
		fail "$1: $(wc -l <values) of $made calls, $different of them different"
}

calls=$(scale 2000 500)
for first in front perf; do
	other=
	[ $first = front ] || before_front raw_syscalls:sys_enter,raw_syscalls:sys_exit
	# a thread may get the number of one of an earlier run: the calls of each run are others
	until_back 2 "'$PROG/numbered' $calls 20 \$((runs = runs + 1))"
	WAY_BACK='syscalls:sys_enter_dup 1000 syscalls:sys_exit_dup 1000'
	back $stacks -e syscalls:sys_enter_dup,syscalls:sys_exit_dup,syscalls:sys_enter_getppid
	want_numbers syscalls:sys_enter_dup fildes

	# The filter needs the fields, whoever fills them.
	WAY_BACK='raw_syscalls:sys_enter 1000 raw_syscalls:sys_exit 1000'
	back $stacks -e raw_syscalls:sys_enter --filter 'id == 32' -e raw_syscalls:sys_exit \
		--filter 'id == 32'
	end_other
	made=$(($(grep -c '^pid ' record.out) * calls * 2))
	of=numbered # a shell makes such calls, too
	for e in raw_syscalls:sys_enter raw_syscalls:sys_exit; do
		values_of $e id
		[ "$(grep -c ' 32$' values)" -eq "$made" ] ||
			fail "$e: $(wc -l <values) of $made calls"
	done
	of=
	note "$first first: $made calls"
done

# Every page is read as often as every other one.
times=$(scale 20 4)
until_back 1 "'$PROG/faults' $((times * 512))"
WAY_BACK='exceptions:page_fault_user 2000'
back $stacks -e exceptions:page_fault_user
of=faults
values_of exceptions:page_fault_user address
of=
cut -d ' ' -f 2,4 values | sort | uniq -c | awk -v times="$times" '$1 == times { n[$2]++ }
	$1 > times { print "more than", times, $0 }
	END {
		for (i in n)
			if (n[i] > 10) {
				print n[i]
				sum += n[i]
			}
		print "pages", sum + 0
	}' >pages
runs=$(grep -c '^events ' record.out)
grep -qx "pages $((runs * 512))" pages || fail "of $runs runs: $(cat pages)"

# What a CPU switches to is what it switches from next; on some machines no program runs while a
# thread of PID 1 does.
until_back 3 "{ '$PROG/pingpong' $(scale 5000 300); ping -q -i 0.01 -c 10 127.0.0.1; } >/dev/null"
WAY_BACK='sched:sched_switch 1000 irq:softirq_entry 300 irq:softirq_exit 1'
need_tracefs
follow_init
for first in $(scale perf perf 'front perf'); do
	other=
	[ $first = front ] ||
		before_front sched:sched_switch,irq:softirq_entry,irq:softirq_exit
	back -a --include-self $stacks -e sched:sched_switch,irq:softirq_entry,irq:softirq_exit
	end_other
	init_threads >init.all
	values_of sched:sched_switch prev_pid next_pid
	awk 'NR == FNR { hidden[$1]; next }
		$1 in to && to[$1] != $4 && !(to[$1] in hidden) {
			print "CPU", $1, "to", to[$1], "from", $4, $3
		}
		{ to[$1] = $5 }' init.all values >breaks
	[ ! -s breaks ] || fail "$first first: $(cat breaks)"
	for e in irq:softirq_entry irq:softirq_exit; do
		values_of $e vec
		wc -l <values >$e
	done
	note "$first first: $(counted back.stk sched:sched_switch recorded) switches," \
		"$(cat irq:softirq_entry irq:softirq_exit | tr '\n' ' ')"
done

# Events that interrupt the programs that record them.  No CPU allocates or frees anything twice in
# a row within 50 us (2 ms if emulated), with no other CPU in between, while the event takes the old
# way; later one may, as not every allocation is an event.  kmem_cache_alloc is recorded, because
# what comes from a cache may be released by kfree(), as the heads of small packets are
# (skb_release_data()).
until_back 3 "'$PROG/badframe' $calls"
WAY_BACK='exceptions:page_fault_kernel 100 kmem:kmalloc 100 kmem:kfree 100'
back -a $(scale --user-stacks=fp "$stacks") \
	-e exceptions:page_fault_kernel,kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc \
	-e kmem:mm_page_free
"$STACKONCE" script --json --event 'kmem:k*' back.stk | jq -r 'select(.fields and
	.fields.ptr != "0x0") |
	"\(.ts) \(.cpu) \(.fields.ptr) \(.event) \(.tid) \(.kstack) \(.fields)"' |
	sort -s -n -k 1,1 >nested
awk -v ns="$(scale 50000 2000000)" '$1 == "back" { since[$2] = $3; within[$2] = $8 * 1000; next }
	{ at = $1; $1 = "" }
	last[$2] == $0 && of[$3] == $0 && at - last_at[$2] < ns && at < since[$4] + 1000000 &&
		at > since[$4] - within[$4] { print last_at[$2], at, $0 }
	{ last[$2] = of[$3] = $0; last_at[$2] = at }' record.err nested >twice
[ ! -s twice ] || fail "twice: $(cat twice), $(grep '^back' record.err)"
note "nested: $(info_of back.stk -c '[.events[] | {name, recorded, lost, fields_missing}]')"

# A CPU that is offline meanwhile has taken the old way, too, when it comes back.
if [ -n "${LIVE_VM:-}" ] && [ -w $cpu1 ]; then
	cat >load.sh <<EOF
echo 0 >$cpu1
until grep -q '^back ' record.err; do
	"$PROG/getppid" $calls
done
echo 1 >$cpu1
"$PROG/getppid" $calls 1
EOF
	WAY_BACK='syscalls:sys_enter_getppid 100' # a shell makes such calls, too
	back $stacks -e syscalls:sys_enter_getppid
	of=getppid
	values_of syscalls:sys_enter_getppid
	of=
	made=$(($(grep -c '^events ' record.out) * calls))
	[ "$(wc -l <values)" -eq "$made" ] || fail "$(wc -l <values) of $made calls"
	[ "$(grep -c '^1 [0-9]* true' values)" -ge "$calls" ] ||
		fail "not on the CPU that came back: $(cut -d ' ' -f 1,3 values | sort | uniq -c)"
fi

# The recording ends before, while or after an event takes the old way.
for ms in $(scale '1 40 160' '1 1000 2000' '1 40 80 120 160 200 240 280'); do
	WAY_BACK="sched:sched_switch -$ms"
	record $roomy --fields native $stacks -o ends.stk -e sched:sched_switch -- sleep \
		"$(scale 0.2 1)"
	want_sum ends.stk
	note "ended after $ms ms: $(grep '^back' record.err)"
done

# If the kernel refuses the program, the event stays native, and a message says so.
WAY_BACK='sched:sched_switch 10'
export WAY_BACK_REFUSED=1
until_back 1 "'$PROG/pingpong' 100"
"$STACKONCE" record $roomy --fields native $stacks -o refused.stk -e sched:sched_switch -- \
	sh load.sh >record.out 2>record.err || fail "record ended with $?: $(cat record.err)"
unset WAY_BACK_REFUSED
want_sum refused.stk
grep -q "^back sched:sched_switch failed -1" record.err || fail "not refused: $(cat record.err)"
grep -q 'cannot let the kernel fill the records of sched:sched_switch: Operation not permitted' \
	record.err || fail "no message: $(cat record.err)"
[ "$(counted refused.stk sched:sched_switch recorded)" -gt 200 ] ||
	fail "not recorded: $(info_of refused.stk -c .events)"
[ "$(info_of refused.stk '.meta["fields.kernel"]')" = null ] || fail "the recording says otherwise"
