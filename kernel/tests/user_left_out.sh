# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# timeout: 240
# Who switches tracing off writes the stacks of tasks that sleep in the kernel, but does not let
# them overwrite what it was switched off for: those that are left out are counted.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# asleep N: are these many threads of $pid in read()?
asleep()
{
	[ "$(threads_in "$pid" "$nr_read" | wc -l)" = "$1" ]
}

# sleepers N: N threads, each of which has asked for its stack and sleeps in the kernel; sets $pid
sleepers()
{
	echo 1 >"$i/tracing_on"
	echo 1 >"$i/events/syscalls/sys_enter_read/enable"
	"$prog" crowd "$1" <"$OUT/go" >/dev/null &
	pid=$!
	exec 9>"$OUT/go"
	until_true 600 100000 asleep "$1" || fail "not all of $1 threads sleep in read()"
	echo 0 >"$i/events/enable"
}

end_sleepers()
{
	kill "$pid"
	wait "$pid"
	exec 9>&-
}

# markers: how many are in the ring buffer
markers()
{
	grep -c ': old [0-9]*$' "$i/trace" || true
}

user_instance left_out
# The ring buffer of one CPU has it all.
taskset -p 1 $$ >/dev/null || fail "taskset"
mkfifo "$OUT/go" || fail "mkfifo"
echo 16 >"$i/buffer_size_kb"

sleepers 5
echo 0 >"$i/tracing_on"
[ "$(user_stat_of left_out)" = 0 ] || fail "of 5 tasks $(user_stat_of left_out) are left out"
cat "$i/trace" >"$OUT/trace-few"
for t in $(threads_in "$pid" "$nr_read"); do
	has_stack "$t" "$OUT/trace-few" || fail "task $t has no stack"
done
end_sleepers
echo 0 >"$i/user_stack_map" || fail "reset"

sleepers 700
n=0
while [ $n -lt 2000 ]; do
	echo "old $n"
	n=$((n + 1))
done >"$OUT/markers"
while read -r line; do
	echo "$line" >"$i/trace_marker"
done <"$OUT/markers"
before=$(markers)
! grep -q ': old 0$' "$i/trace" || fail "the ring buffer is not full"
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
after=$(markers)
left_out=$(user_stat_of left_out)
end_sleepers
grep -q ': old 1999$' "$OUT/trace" || fail "the last event is gone"
[ "$after" -ge $((before / 3)) ] || fail "$after of $before events are left"
[ "$left_out" -gt 0 ] && [ "$left_out" -lt 700 ] || fail "of 700 tasks '$left_out' are left out"
grep -q '<user stack unwind>' "$OUT/trace" || fail "no stack was taken"
echo 0 >"$i/user_stack_map" || fail "reset"
[ "$(user_stat_of left_out)" = 0 ] || fail "left_out after a reset"
rmdir "$i" || fail "rmdir"
rm "$OUT/go"
note "$after of $before events are left, $left_out of 700 tasks are left out"
