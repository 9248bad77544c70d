#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A dump of the ring buffer on the console (sysrq-z, as on a panic) shows frames, not only ids.
# needs: variant=default smp=2 mem=1024 alone
# timeout: 120
. "$TESTS/lib.sh"

dir=$tracefs
echo 1 >"$dir/options/stackmap"
echo 1 >"$dir/options/stacktrace"
echo 1 >"$dir/events/sched/sched_process_fork/enable"
(true)
(true)
echo 0 >"$dir/tracing_on"
ids=$(grep -c '<stack_id' "$dir/trace")
[ "$ids" -ge 2 ] || fail "only $ids ids in the ring buffer"
dump_ring
shown=$(grep -c 'sched_process_fork: ' "$OUT/dmesg")
[ "$shown" -ge 2 ] || fail "the dump has $shown events"
frames=$(grep -c '=> kernel_clone' "$OUT/dmesg")
[ "$frames" -eq "$shown" ] || fail "$shown events, but kernel_clone in $frames stacks"
note "$shown events on the console, all with frames"
