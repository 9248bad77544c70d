# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# timeout: 300
# The size of the sub-buffers is changed while tasks are traced, which empties the ring buffer and
# leaves the maps: ids in it are known, and each file has its event again; with a snapshot, too.  A
# size that is refused changes nothing.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# record_chain NAME: a chain is traced, tracing is off then; $OUT/NAME is the trace.
record_chain()
{
	echo 1 >"$i/tracing_on"
	"$prog" chain 3 >"$OUT/said" &
	chain=$!
	wait "$chain" || fail "chain"
	tracing_off "$i"
	cat "$i/trace" >"$OUT/$1"
}

# without_names NAME: the trace without names of tasks, which the kernel remembers for some only
without_names()
{
	sed 's/^ *.*-\([0-9][0-9]* *\[\)/\1/' "$OUT/$1"
}

# check_chain NAME: ids, files and the frames of the chain
check_chain()
{
	ids_known "$i" "$OUT/$1"
	paths_of "$OUT/$1"
	frames_of "$OUT/$1" | awk -v pid="$chain" '$1 == pid' >"$OUT/frames-$1"
	compare_chain "$OUT/said" "$OUT/frames-$1"
}

user_instance subbuf
[ -e "$i/buffer_subbuf_size_kb" ] || skip "sub-buffers have one size"
echo 2048 >"$i/buffer_size_kb"
echo 1 >"$i/snapshot" || fail "snapshot"
echo 1 >"$i/events/sched/sched_switch/enable"
getppid_on
"$prog" spin 600 &
one=$!
"$prog" spin 600 &
two=$!
rounds=0
for kb in 8 64 4 16 128 4; do
	echo 1 >"$i/tracing_on"
	sleep 0.2
	echo "$kb" >"$i/buffer_subbuf_size_kb" || fail "$kb KB"
	[ "$(cat "$i/buffer_subbuf_size_kb")" -eq "$kb" ] || fail "not $kb KB"
	record_chain "trace-$kb"
	check_chain "trace-$kb"
	entries=$(stat_of "$i" entries)

	echo 1024 >"$i/buffer_subbuf_size_kb" 2>/dev/null && fail "1024 KB are not refused"
	[ "$(cat "$i/buffer_subbuf_size_kb")" -eq "$kb" ] || fail "$kb KB are changed"
	cat "$i/trace" >"$OUT/trace-refused"
	without_names "trace-$kb" >"$OUT/first"
	without_names trace-refused >"$OUT/second"
	cmp "$OUT/first" "$OUT/second" || fail "a refused size changes the trace"
	[ "$(stat_of "$i" entries)" -ge "$entries" ] || fail "the map is emptied"

	echo 1 >"$i/snapshot" || fail "snapshot"
	cat "$i/snapshot" >"$OUT/snapshot-$kb"
	check_chain "snapshot-$kb"
	rounds=$((rounds + 1))
done

# A reset with large sub-buffers
echo 64 >"$i/buffer_subbuf_size_kb"
record_chain trace-before
echo 0 >"$i/stack_map" || fail "reset"
! grep -q stack_id "$i/trace" || fail "ids after a reset"
! grep -q stack_id "$i/snapshot" || fail "ids in the snapshot after a reset"
record_chain trace-reset
check_chain trace-reset
kill "$one" "$two"
wait
tracing_off "$i"
statistics "$i"
rmdir "$i" || fail "rmdir"
echo "# $rounds sizes, $(wc -l <"$OUT/used") files"
