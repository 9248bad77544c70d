# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,kcsan,rt smp=2 mem=1536
# timeout: 240
# All at once: events on the exit path to user space, interrupts and signals, in two instances.  The
# kernel must not hang on that path, and every cookie must have its stack.  Not run with KASAN and
# lockdep, where it had not finished after a quarter of an hour.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance busy_b
b=$i
lost_before=$(grep '^lost_no_memory:' "$b/user_stack_map_stat")
echo 1 >"$b/events/sched/enable"
user_instance busy_a
for e in $b $i; do
	echo 65536 >"$e/buffer_size_kb"
done
# With all checks enabled, one tick's worth of these events takes longer than a tick.
often=$(by_variant 'irq_vectors preemptirq kmem' '')
for e in raw_syscalls sched irq timer signal exceptions mmap_lock rcu task $often; do
	[ ! -e "$i/events/$e/enable" ] || echo 1 >"$i/events/$e/enable"
done
echo >"$b/trace"
echo >"$i/trace"
"$prog" spin 2 &
"$prog" spin 2 &
"$prog" threads 4 500
wait
echo 0 >"$i/events/enable"
echo 0 >"$b/events/enable"
for e in a b; do
	i=$tracefs/instances/busy_$e
	echo 0 >"$i/tracing_on"
	cat "$i/trace" >"$OUT/trace-$e"
	cat "$i/user_stack_map_stat" >"$OUT/stat-$e"
	lost=$(cat "$i"/per_cpu/cpu*/stats | awk '/^overrun|^dropped/ { n += $NF } END { print n }')
	check_cookies "$OUT/trace-$e" >"$OUT/count-$e"
	rc=$?
	echo "# $e: lost $lost; $(tail -n 1 "$OUT/count-$e")"
	# Where the ring buffer lost events, cookies would lack their stacks.
	[ "$lost" = 0 ] || fail "the ring buffer of $e is too small for this test"
	[ $rc = 0 ] || {
		cat "$OUT/count-$e"
		fail "cookies of $e"
	}
	grep -qx "$lost_before" "$OUT/stat-$e" || fail "no memory"
	rmdir "$i" || fail "rmdir"
done
