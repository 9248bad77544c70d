#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The function tracer has filled a map of 2^10 stacks: known stacks are still recorded as ids, none
# of which is wrong, other stacks are recorded in full, and the statistics match the ring buffer.
# needs: variant=default smp=2 accel=single mem=1024
# timeout: 600
. "$TESTS/lib.sh"

instance ids 10
instance full 0
ids=$tracefs/instances/ids
full=$tracefs/instances/full
for dir in "$ids" "$full"; do
	echo 16384 >"$dir/buffer_size_kb"
done

asked=0 successes=0 drops=0
# since: the requests to the map since the last call, and their results
since()
{
	for stat in asked successes drops; do
		now=$(stat_of "$ids" $stat)
		eval "$stat=\$((now - \${was_$stat:-0})) was_$stat=$now"
	done
}

# race ARG...: compares every stack, and after each round the statistics with the ring buffer
race()
{
	"$TESTS/race" -k "$@" ids full || {
		cat "$ids/stack_map_stat"
		fail "race $*"
	}
	statistics "$ids"
	since
}

# The events to trace: all their stacks are in the map before it fills.
traced()
{
	for dir in "$ids" "$full"; do
		if [ "$1" -eq 1 ]; then
			events "$dir" kmem syscalls sched/sched_switch
		else
			echo 0 >"$dir/events/enable"
		fi
	done
}

traced 1
race -i 3 5
traced 0
[ "$(stat_of "$ids" entries)" -lt 512 ] || fail "the map is half full already"

# An emulated machine is too slow to record a stack for each function of the kernel.  The instance
# whose tracer starts last is called first for a function.
for dir in "$full" "$ids"; do
	echo 'kmem_cache_*' 'vfs_*' '*lookup*' '*folio*' 'mutex_*' 'kfree*' 'security_*' \
		>"$dir/set_ftrace_filter"
	echo function >"$dir/current_tracer" || fail "no function tracer"
	echo 1 >"$dir/options/func_stack_trace"
done

# work: work of many kinds, for the function tracer of one instance; reads the results at once
work()
{
	echo 1 >"$ids/tracing_on"
	ls -lR "$tracefs/events/sched" | sort >/dev/null
	cat /proc/self/maps /proc/self/status /proc/mounts /proc/meminfo /proc/interrupts >/dev/null
	ps >/dev/null
	dd if=/dev/zero of=/tmp/full_map bs=4096 count=10 2>/dev/null
	rm /tmp/full_map
	tracing_off "$ids"
	since
	# shellcheck disable=SC2046 # four numbers
	set -- $("$TESTS/sizes" "$ids")
	echo "function tracer: $1 events, $3 stacks in $4 bytes; $asked asked, $drops in full"
	[ "$3" -eq "$asked" ] || fail "$3 stacks in the ring buffer, $asked requested"
	each=$(($4 / $3))
}

for _ in 1 2 3 4; do
	work
done
cat "$ids/stack_map_stat"
statistics "$ids"
entries=$(stat_of "$ids" entries)
[ "$drops" -gt 0 ] || fail "the map did not become full"
[ "$entries" -le 1024 ] || fail "more entries than the map has room for"
[ "$successes" -gt $((asked / 2)) ] || fail "only $successes of $asked known stacks are ids"
[ "$each" -lt 40 ] || fail "a stack takes $each bytes of the ring"
said="$entries entries; function tracer: $successes of $asked stacks ids, $each bytes each;"

race -a 3
said="$said $successes of $asked right;"
for dir in "$ids" "$full"; do
	echo nop >"$dir/current_tracer"
done

traced 1
race -i 5 10
traced 0
[ "$successes" -gt $((asked / 2)) ] || fail "only $successes of $asked known stacks are ids"
note "$said events: $successes of $asked known stacks ids"
