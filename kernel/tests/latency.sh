# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug smp=2
# timeout: 300
# Latency tracers swap the ring buffers where they find a new maximum, with interrupts off.  What
# they show has ids of the map, also when the option was off meanwhile; a reset leaves no id in what
# they show, and they go on after it.
# shellcheck source=kernel/tests/lib.sh
. "$TESTS/lib.sh"

# has_maximum: a task sleeps and wakes up; has the tracer found a maximum?
has_maximum()
{
	(sleep 0.01 | true)
	[ "$(cat "$dir/tracing_max_latency")" -ne 0 ]
}

# maximum NAME: waits for the next maximum; $OUT/NAME is what the tracer shows for it.
maximum()
{
	echo 0 >"$dir/tracing_max_latency"
	until_true 500 0 has_maximum || fail "$tracer: no maximum for $1"
	cat "$dir/trace" >"$OUT/$1"
}

# must_have_ids NAME: stacks, all of them by ids, which the map has
must_have_ids()
{
	! grep -q '<stack trace>' "$OUT/$1" || fail "$tracer: a stack in full in $1"
	ids_known "$dir" "$OUT/$1"
}

# stackmap VALUE: switches the option; the next maximum may have begun before that.
stackmap()
{
	echo "$1" >"$dir/options/stackmap" || fail "$tracer: option $1"
	maximum settled
}

# resets ROUNDS LAST: after each reset both ring buffers are empty, and the ids that come are above
# LAST.
resets()
{
	round=0
	while [ "$round" -lt "$1" ]; do
		echo 0 >"$dir/tracing_on"
		echo 0 >"$dir/stack_map" || fail "$tracer: reset"
		! grep -q '<stack_id' "$dir/trace" || fail "$tracer: ids after a reset"
		echo 1 >"$dir/tracing_on"
		maximum "$tracer.reset"
		must_have_ids "$tracer.reset"
		ids_of "$OUT/$tracer.reset" | awk -v last="$2" '$1 <= last { exit 1 }' ||
			fail "$tracer: an id of before the reset"
		round=$((round + 1))
	done
}

run_tracer()
{
	instance "lat_$tracer" 12
	[ ! -e "$dir/options/function-trace" ] || echo 0 >"$dir/options/function-trace"
	echo "$tracer" >"$dir/current_tracer" || fail "$tracer in an instance"
	echo 1 >"$dir/tracing_on"

	maximum "$tracer.on"
	must_have_ids "$tracer.on"

	# switched off: the ids that are there stay, those to come are stacks
	stackmap 0
	ids_known "$dir" "$OUT/$tracer.on"
	maximum "$tracer.off"
	grep -q '<stack trace>' "$OUT/$tracer.off" || fail "$tracer: no stack with the option off"
	! grep -q '<stack_id' "$OUT/$tracer.off" || fail "$tracer: an id with the option off"
	stackmap 1
	for n in 1 2 3; do
		maximum "$tracer.again$n"
		must_have_ids "$tracer.again$n"
	done

	resets "$(by_variant 10 3)" \
		"$(ids_of "$OUT/$tracer.on" "$OUT/$tracer".again* | sort -n | tail -n 1)"
	tracing_off "$dir"
	statistics "$dir"
	echo nop >"$dir/current_tracer"
	rmdir "$dir" || fail "rmdir"
}

ran=
for tracer in wakeup irqsoff preemptoff; do
	grep -qw "$tracer" "$tracefs/available_tracers" || continue
	run_tracer
	ran="$ran $tracer"
done
[ -n "$ran" ] || fail "no latency tracer"
note "${ran# }"
