#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# An instance whose ring buffer outlives the kernel refuses the option, as its ids would outlive the
# map, and has its stacks in full.
# needs: variant=default smp=2 mem=1024 alone
# needs: append="reserve_mem=12M:4096:trace trace_instance=boot_map^traceoff@trace"
# timeout: 120
. "$TESTS/lib.sh"

dir=$tracefs/instances/boot_map
[ -d "$dir" ] || skip "no boot mapped instance"
! (echo 1 >"$dir/options/stackmap") 2>/dev/null || fail "the option is not refused"
[ "$(cat "$dir/options/stackmap")" -eq 0 ] || fail "the option is on"
echo 1 >"$dir/options/stacktrace"
echo 1 >"$dir/events/sched/sched_switch/enable"
echo 1 >"$dir/tracing_on"
(true | cat)
tracing_off "$dir"
grep -q '<stack trace>' "$dir/trace" || fail "no stack in full"
! grep -q '<stack_id' "$dir/trace" || fail "an id in a ring buffer that outlives the map"
echo 0 >"$dir/stack_map" || fail "a reset without a map"
[ "$(stat_of "$dir" entries)" -eq 0 ] || fail "entries"
note "refused; $(grep -c '<stack trace>' "$dir/trace") stacks in full"
