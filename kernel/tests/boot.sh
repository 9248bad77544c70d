#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tracing from the kernel command line on: stacks are in full before the map exists and ids from
# then on, and every event has a stack.
# needs: variant=default smp=2 mem=1024 alone
# needs: append="trace_event=sched:sched_switch trace_options=stackmap,stacktrace ftrace_stackmap.bits=12 trace_buf_size=8M"
# timeout: 300
. "$TESTS/lib.sh"

dir=$tracefs
tracing_off "$dir"
[ "$(cat "$dir/options/stackmap")" -eq 1 ] || fail "the option is off"
[ "$(sed -n 's/^entries: .* \/ //p' "$dir/stack_map_stat")" -eq 4096 ] ||
	fail "the map does not have the requested size"
statistics "$dir"
cat "$dir/stack_map_stat"
for name in pool_full table_full probe_limit once too_deep; do
	[ "$(stat_of "$dir" fallback_$name)" -eq 0 ] || fail "stacks fell back: $name"
done
if cat "$dir"/per_cpu/cpu*/stats | grep -E '^(overrun|dropped events): [1-9]'; then
	skip "the ring was too small for this boot"
fi

awk '
	/ sched_switch: / { events++ }
	/<stack_id [0-9]+( on [0-9]+)?>$/ { ids++; if (!first) first = $0 }
	/<stack trace>$/ { full++; if (ids) late++ }
	END {
		print events + 0, ids + 0, full + 0, late + 0
		print first
	}' "$dir/trace" >"$OUT/counts"
read -r events ids full late <"$OUT/counts"
sed -n 2p "$OUT/counts"
[ "$ids" -eq "$(stat_of "$dir" successes)" ] || fail "not every id is in the ring"
[ "$ids" -gt 0 ] || fail "no ids"
[ $((ids + full)) -eq "$(stat_of "$dir" asked)" ] || fail "not every stack is in the ring"
# Another CPU may have been between an event and its stack when tracing was switched off.
without=$((events - ids - full))
if [ "$without" -lt 0 ] || [ "$without" -ge "$SMP" ]; then
	fail "$events events, $ids ids, $full stacks"
fi
[ "$late" -eq 0 ] || fail "$late stacks in full after the first id"
first=$(sed -n '2s/.* \([0-9]*\.[0-9]*\): .*/\1/p' "$OUT/counts")
note "$events events since boot: $ids ids, $full in full; the first id at $first s"
