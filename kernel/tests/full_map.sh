#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A map for 2^10 stacks that the function tracer has filled: known stacks are ids still, none is
# wrong, the others are there in full, and the statistics add up.
# needs: variant=default smp=2 accel=single mem=1024
# timeout: 600
. "$TESTS/lib.sh"

instance ids 10
instance full 0
ids=$tracefs/instances/ids
for name in ids full; do
	echo 16384 >"$tracefs/instances/$name/buffer_size_kb"
done

# with a stack for each function of the kernel an emulated machine gets nowhere
echo 'kmem_cache_*' 'vfs_*' '*lookup*' '*folio*' '*page*' 'mutex_*' 'kfree*' 'security_*' \
	>"$ids/set_ftrace_filter"
echo function >"$ids/current_tracer" || skip "no function tracer"
echo 1 >"$ids/options/func_stack_trace"
echo 1 >"$ids/tracing_on"
for _ in 1 2 3 4 5; do
	ls -lR "$tracefs/events/sched" | sort >/dev/null
	cat /proc/self/maps /proc/self/status /proc/mounts /proc/meminfo /proc/interrupts >/dev/null
	ps >/dev/null
	dd if=/dev/zero of=/tmp/full_map bs=4096 count=10 2>/dev/null
	rm /tmp/full_map
	echo >"$ids/trace"
done
echo 0 >"$ids/tracing_on"
echo nop >"$ids/current_tracer"
echo >"$ids/trace"
cat "$ids/stack_map_stat"
statistics "$ids"
drops=$(stat_of "$ids" drops)
[ "$drops" -gt 0 ] || fail "the map did not fill"
entries=$(stat_of "$ids" entries)
filled="$entries entries, $drops of $(stat_of "$ids" asked) in full"

for name in ids full; do
	events "$tracefs/instances/$name" kmem syscalls sched/sched_switch
done
successes=$(stat_of "$ids" successes)
asked=$(stat_of "$ids" asked)
"$TESTS/race" -k -i 5 20 ids full || exit 1
cat "$ids/stack_map_stat"
statistics "$ids"
hits=$(($(stat_of "$ids" successes) - successes))
asked=$(($(stat_of "$ids" asked) - asked))
[ "$(stat_of "$ids" entries)" -le 1024 ] || fail "more entries than there is room for"
[ $hits -gt $((asked / 2)) ] || fail "only $hits of $asked stacks that came again are ids"
note "function tracer: $filled; then $hits of $asked stacks of events are ids"
