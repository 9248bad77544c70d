# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# Tasks that are in the kernel when tracing is switched off: their stacks are taken from outside,
# and have the frames that the program prints.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance stop
echo 1 >"$i/tracing_on"
echo 1 >"$i/events/syscalls/sys_enter_clock_nanosleep/enable"
echo 1 >"$i/events/syscalls/sys_enter_futex/enable"
"$prog" sleep 30 &
sleeper=$!
"$prog" sleep 30 &
other=$!
sleep 1
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
kill "$sleeper" "$other"

sed 's/sys_clock_nanosleep(/sys_getppid(/' "$OUT/trace" >"$OUT/t"
frames_of "$OUT/t" >"$OUT/frames"
for pid in "$sleeper" "$other"; do
	awk -v pid="$pid" '$1 == pid && $3 == "frame" { n++ } END { exit !n }' "$OUT/frames" ||
		fail "no frames of $pid, which sleeps"
	# the event is one of that task, whoever wrote it
	grep -q -- "-$pid .*<user stack unwind>" "$OUT/trace" || fail "the stack is not of $pid"
done
check_cookies "$OUT/trace" >"$OUT/count" || {
	cat "$OUT/count"
	fail "cookies"
}
grep -q ' 0 missing' "$OUT/count" || fail "$(cat "$OUT/count")"
# Once written, a stack is not written again when its task goes back.
echo 1 >"$i/tracing_on"
echo 0 >"$i/events/enable"
wait "$sleeper" "$other" 2>/dev/null
cat "$i/trace" >"$OUT/trace-later"
check_cookies "$OUT/trace-later" >"$OUT/count-later" || {
	cat "$OUT/count-later"
	fail "a stack twice"
}
rmdir "$i" || fail "rmdir"
echo "# $(tail -n 1 "$OUT/count")"
