#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Instructions per event without a stack, with a full stack and with an id, and for a stack that is
# new to the map.  The machine's clock counts them: one nanosecond per instruction.
# needs: variant=default smp=1 accel=single mem=1024 alone append="nokaslr norandmaps"
# needs: qemu="-icount shift=0,sleep=off"
# timeout: 300
. "$TESTS/lib.sh"

dir=$tracefs
windows=12

# The cost in the best of many short windows, in which no interrupt came.
cost()
{
	"$TESTS/load" "$1" "$2" "$windows"
}

# switched ON WHAT: enables or disables an event or the function tracer
switched()
{
	case $2 in
	function:*)
		echo nop >"$dir/current_tracer"
		[ "$1" -eq 1 ] || return 0
		echo "${2#function:}" >"$dir/set_ftrace_filter" || fail "no function ${2#function:}"
		echo function >"$dir/current_tracer" || fail "no function tracer"
		;;
	*) echo "$1" >"$dir/events/$2/enable" ;;
	esac
}

# stacks STACKTRACE STACKMAP
stacks()
{
	echo "$2" >"$dir/options/stackmap"
	echo "$1" >"$dir/options/stacktrace"
	[ ! -e "$dir/options/func_stack_trace" ] || echo "$1" >"$dir/options/func_stack_trace"
}

summary=
# compare NAME KIND TIMES EACH MOST WHAT: one KIND causes EACH events, whose id may take MOST
# instructions more than a full stack
compare()
{
	stacks 0 0
	off=$(cost "$2" "$3")
	switched 1 "$6"
	plain=$(cost "$2" "$3")
	stacks 1 0
	full=$(cost "$2" "$3")
	stacks 1 1
	ids=$(cost "$2" "$3")
	stacks 0 0
	switched 0 "$6"
	line=$(echo "$off $plain $full $ids $4" | awk '{
		printf "event %.0f, stack %.0f, id %.0f more",
			($2 - $1) / $5, ($3 - $2) / $5, ($4 - $3) / $5 }')
	echo "$1: $line instructions"
	summary="$summary $1: $line;"
	echo "$off $plain $full $ids $4 $5" |
		awk '{ exit !($2 > $1 && $3 > $2 && ($4 - $3) / $5 <= $6) }' ||
		fail "$1: an id takes more than $5 instructions beyond a full stack"
}

spin=$(cost spin 100000)
echo "$spin" | awk '{ exit !($1 > 1.99 && $1 < 2.01) }' ||
	fail "two instructions take $spin ns: the clock does not count instructions"

# The bounds are what was measured of the proposed stackmap (v4) on the same kernel.
echo 64 >"$dir/buffer_size_kb"
echo 1 >"$dir/tracing_on"
compare getppid getppid 250 1 208 syscalls/sys_enter_getppid
compare fault fault 256 1 182 exceptions/page_fault_user
compare sched pingpong 50 2 389 sched/sched_switch
compare function getppid 250 1 206 "function:*_sys_getppid"

# New stacks: those of many system calls.
for event in syscalls kmem exceptions sched; do
	echo 1 >"$dir/events/$event/enable"
done
stacks 1 1
# shellcheck disable=SC2046 # three numbers
set -- $("$TESTS/load" new "$dir" 6)
stacks 0 0
echo 0 >"$dir/events/enable"
new=$((($1 - $2) / $3))
echo "$3 new stacks: $1 instructions, $2 when known: $new more for a new stack"
[ "$3" -gt 50 ] || fail "only $3 stacks"
[ "$new" -lt 500 ] || fail "a new stack takes $new instructions more than a known one"
note "instructions per$summary new stack: $new more"
