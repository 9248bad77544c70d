#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A trigger takes a snapshot at each context switch, with tracing off as well, so that the ring
# buffers are swapped in the middle of a reset: both are cleared, and both record afterwards.
# needs: variant=all smp=2
# timeout: 300
. "$TESTS/lib.sh"

# recorded: switches tracing on; is there an event in the ring buffer or in the snapshot?  A swap
# between may show the same of the two twice, and may take back what was written to tracing_on.
recorded()
{
	echo 1 >"$dir/tracing_on"
	(true)
	grep -q 'sched_process_fork:' "$dir/trace" "$dir/snapshot"
}

# left: fails if there is an event in either of the two
left()
{
	! grep -h -v '^#' "$dir/trace" "$dir/snapshot" | grep .
}

instance snapshots 10
dir=$tracefs/instances/snapshots
[ -e "$dir/snapshot" ] || skip "no snapshots"
trigger=$dir/events/sched/sched_switch/trigger
echo snapshot >"$trigger" || fail "no trigger"
events "$dir" sched/sched_process_fork
rounds=$(by_variant 40 15)
round=0
while [ "$round" -lt "$rounds" ]; do
	until_true 100 0 goes_off "$dir" || fail "tracing does not go off before reset $round"
	echo 0 >"$dir/stack_map" || fail "reset"
	left || fail "events after reset $round"
	until_true 10 0 recorded || fail "nothing is recorded after reset $round"
	round=$((round + 1))
done
echo '!snapshot' >"$trigger"
statistics "$dir"
rmdir "$dir" || fail "rmdir"
note "$rounds resets beside snapshots"
