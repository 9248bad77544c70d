# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# Tasks that are in the kernel when tracing is switched off: their stacks are taken from outside,
# and have the frames that the program prints.  Of a task that is still there when tracing goes on
# again the stack is taken again.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance stop
user_pair "syscalls/sys_enter_clock_nanosleep syscalls/sys_enter_futex" wait 600
until_call "$one" "$nr_futex"
until_call "$two" "$nr_futex"
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
for pid in "$one" "$two"; do
	# the event is one of that task, whoever wrote it
	grep -q -- "-$pid .*<user stack unwind>" "$OUT/trace" || fail "the stack is not of $pid"
done
check_cookies "$OUT/trace" >"$OUT/count" || {
	cat "$OUT/count"
	fail "cookies"
}
grep -q ' 0 missing' "$OUT/count" || fail "$(cat "$OUT/count")"
# Once written, a stack is not written again when its task goes back.
echo 0 >"$i/events/enable"
echo 1 >"$i/tracing_on"
kill -USR1 "$one" "$two"
for pid in "$one" "$two"; do
	wait "$pid" || fail "$pid ended with $?"
done
cat "$i/trace" >"$OUT/trace-later"
check_cookies "$OUT/trace-later" >"$OUT/count-later" || {
	cat "$OUT/count-later"
	fail "a stack twice"
}
# What they printed when they had gone back
sed 's/sys_futex(/sys_getppid(/' "$OUT/trace" >"$OUT/t"
frames_of "$OUT/t" >"$OUT/frames"
awk -v pid="$one" '$1 == pid' "$OUT/frames" >"$OUT/frames-one"
awk -v pid="$two" '$1 == pid' "$OUT/frames" >"$OUT/frames-two"
for who in one two; do
	compare_chain "$OUT/said-$who" "$OUT/frames-$who"
done

# A task that is still in the kernel when tracing goes on again, and whose stack was in the ring
# buffer that has been cleared: its next event has one again.
echo >"$i/trace"
user_pair syscalls/sys_enter_clock_nanosleep sleep 600
until_call "$one" "$nr_nanosleep"
until_call "$two" "$nr_nanosleep"
echo 0 >"$i/tracing_on"
echo 0 >"$i/events/enable"
grep -q -- "-$one .*<user stack unwind>" "$i/trace" || fail "the stack is not taken"
echo >"$i/trace"
echo "$one $two" >"$i/set_event_pid"
echo 1 >"$i/events/syscalls/sys_exit_clock_nanosleep/enable"
echo 1 >"$i/tracing_on"
kill "$one" "$two"
wait "$one" "$two" 2>/dev/null
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace-again"
check_cookies "$OUT/trace-again" >"$OUT/count-again" || {
	cat "$OUT/count-again"
	fail "no stack when tracing goes on again"
}
grep -q '^2 events, 2 cookies, 2 user stacks, 0 open' "$OUT/count-again" ||
	fail "tracing goes on again: $(cat "$OUT/count-again")"
rmdir "$i" || fail "rmdir"
echo "# $(tail -n 1 "$OUT/count"), $(wc -l <"$OUT/truth") frames of each right"
