#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The memory of a map whose option is off: it is kept while there are events and for those who have
# read them, and given back when they are cleared.  The next map goes on with ids and generations.
# needs: variant=default,debug smp=2
# timeout: 180
. "$TESTS/lib.sh"

# areas: how many areas of memory belong to stack maps
areas()
{
	grep -c 'stackmap_alloc' /proc/vmallocinfo || true
}

# record FILE: records some events and writes the ids of their stacks
record()
{
	echo 1 >"$dir/tracing_on"
	(true)
	(true | true)
	tracing_off "$dir"
	ids >"$1"
	[ -s "$1" ] || fail "no stacks in the map"
}

# ids: those that are in the map
ids()
{
	sed -n 's/^stack_id \([0-9]*\) .*/\1/p' "$dir/stack_map" | sort
}

without=$(areas)
instance back 10
dir=$tracefs/instances/back
[ "$(areas)" -gt "$without" ] || fail "a map takes no memory"
events "$dir" sched/sched_process_fork sched/sched_process_exit
record "$OUT/first"
generation=$(stat_of "$dir" generation)

echo 0 >"$dir/options/stackmap"
ids | cmp - "$OUT/first" || fail "the map is gone, while there are ids in the ring buffer"
# As tracing is off, read() ends with the last event; cat may call sendfile(), which waits for more.
dd if="$dir/trace_pipe" of="$OUT/pipe" bs=4096 2>/dev/null
grep -q '<stack_id' "$OUT/pipe" || fail "no ids in trace_pipe"
ids | cmp - "$OUT/first" || fail "the map is gone for those who have read the ids"
echo >"$dir/trace"
[ "$(areas)" = "$without" ] || fail "$(areas) areas of memory after clearing, $without before"
[ -z "$(ids)" ] || fail "stacks without a map"

echo 1 >"$dir/options/stackmap"
record "$OUT/second"
[ "$(stat_of "$dir" generation)" -gt "$generation" ] || fail "the same generation again"
[ -z "$(sort "$OUT/first" "$OUT/second" | uniq -d)" ] || fail "an id of before for a stack of after"
statistics "$dir"
rmdir "$dir" || fail "rmdir"
[ "$(areas)" = "$without" ] || fail "$(areas) areas of memory without the instance, $without before"
# Who holds the map of user stacks keeps it, also when that of kernel stacks is given back.
if [ -e "$tracefs/user_stack_map" ]; then
	instance held 10
	dir=$tracefs/instances/held
	echo 1 >"$dir/options/userstacktrace"
	exec 9<"$dir/user_stack_map"
	echo 0 >"$dir/options/stackmap"
	echo >"$dir/trace"
	held=$(areas)
	[ "$held" -gt "$without" ] || fail "a map is given back that somebody holds"
	exec 9<&-
	echo >"$dir/trace"
	[ "$(areas)" = "$without" ] || fail "$(areas) areas of memory after that, $without before"
	rmdir "$dir" || fail "rmdir"
	# That of user stacks is given back when they alone are off: at once without events, else
	# when these are cleared.
	instance alone 10
	dir=$tracefs/instances/alone
	kernel=$(areas)
	echo 1 >"$dir/options/userstacktrace"
	[ "$(areas)" -gt "$kernel" ] || fail "a map of user stacks takes no memory"
	echo 0 >"$dir/options/userstacktrace"
	[ "$(areas)" = "$kernel" ] || fail "$(areas) areas with user stacks off, not $kernel"
	echo 1 >"$dir/options/userstacktrace"
	both=$(areas)
	events "$dir" sched/sched_process_fork
	record "$OUT/alone"
	echo 0 >"$dir/options/userstacktrace"
	[ "$(areas)" = "$both" ] || fail "$(areas) areas of memory, not $both, with events"
	echo >"$dir/trace"
	[ "$(areas)" = "$kernel" ] || fail "$(areas) areas of memory after clearing, not $kernel"
	rmdir "$dir" || fail "rmdir"
	[ "$(areas)" = "$without" ] || fail "$(areas) areas of memory in the end, $without before"
fi
note "$(wc -l <"$OUT/first") stacks in one map, $(wc -l <"$OUT/second") in the next"
