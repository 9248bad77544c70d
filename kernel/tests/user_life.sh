# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug,kcsan,rt smp=2
# timeout: 240
# Fork, exec, exit, many threads, and instances that are removed while tasks with requests sleep.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance life
echo 16384 >"$i/buffer_size_kb"

# 32 threads with 200 entries each, and 50 children: each entry has its own cookie and one stack.
getppid_on
"$prog" threads 32 200 || fail "threads"
"$prog" fork || fail "fork"
getppid_off
cat "$i/trace" >"$OUT/trace-threads"
check_cookies "$OUT/trace-threads" >"$OUT/count-threads" || {
	cat "$OUT/count-threads"
	fail "threads"
}
grep -q '^6450 events, 6450 cookies, 6450 user stacks' "$OUT/count-threads" || {
	cat "$OUT/count-threads"
	fail "threads: not 6450"
}
frames_of "$OUT/trace-threads" >"$OUT/frames-threads"
# All have the same three innermost frames.
awk '$3 == "none" { exit 1 } $2 != c { c = $2; n = 0 } { n++ } n <= 3 { print n, $4, $5 }' \
	"$OUT/frames-threads" | sort -u >"$OUT/inner" || fail "a thread without frames"
[ "$(wc -l <"$OUT/inner")" = 3 ] || fail "inner frames differ"

# Exec: the stack is that of the program that ends: of the shell's child, then of user_prog's chain.
# Exit: it has its stack, too.
echo >"$i/trace"
echo 1 >"$i/events/syscalls/sys_enter_execve/enable"
echo 1 >"$i/events/syscalls/sys_enter_exit_group/enable"
"$prog" exec >"$OUT/said" || fail "exec"
echo 0 >"$i/events/enable"
cat "$i/trace" >"$OUT/trace-exec"
sed 's/sys_execve(/sys_getppid(/' "$OUT/trace-exec" >"$OUT/t"
frames_of "$OUT/t" >"$OUT/frames-exec"
cut -d ' ' -f 2 "$OUT/frames-exec" | uniq >"$OUT/cookies-exec"
[ "$(wc -l <"$OUT/cookies-exec")" = 2 ] || fail "exec: not two stacks"
[ "$(awk '{ print $3 }' "$OUT/frames-exec" | sort -u)" = frame ] || fail "exec: no frames"
grep " $(tail -n 1 "$OUT/cookies-exec") " "$OUT/frames-exec" >"$OUT/frames-chain"
compare_chain "$OUT/said" "$OUT/frames-chain"
sed 's/sys_exit_group(/sys_getppid(/' "$OUT/trace-exec" >"$OUT/t"
frames_of "$OUT/t" >"$OUT/frames-exit"
[ "$(awk '{ print $3 }' "$OUT/frames-exit" | sort -u)" = frame ] ||
	fail "exit: $(cat "$OUT/frames-exit")"

# A thread that exits has its frames, and so has what it called.
echo >"$i/trace"
echo 1 >"$i/events/syscalls/sys_enter_exit/enable"
"$prog" thread_exit || fail "thread_exit"
echo 0 >"$i/events/enable"
cat "$i/trace" >"$OUT/trace-thread"
sed 's/sys_exit(/sys_getppid(/' "$OUT/trace-thread" >"$OUT/t"
frames_of "$OUT/t" >"$OUT/frames-thread"
[ "$(grep -c ' frame ' "$OUT/frames-thread")" -ge 4 ] ||
	fail "exit of a thread: $(cat "$OUT/frames-thread")"

# The instance is removed while eight tasks with a request sleep; a new one takes its place.
echo 1 >"$i/events/syscalls/sys_enter_futex/enable"
pids=
for n in 1 2 3 4 5 6 7 8; do
	"$prog" wait 600 >/dev/null &
	pids="$pids $!"
done
for pid in $pids; do
	until_call "$pid" "$nr_futex"
done
echo 0 >"$i/events/enable"
rmdir "$i" || fail "rmdir with requests pending"
user_instance again
echo 1 >"$i/tracing_on"
for pid in $pids; do
	kill -USR1 "$pid" && wait "$pid" || fail "a task with a request: $?"
done
echo >"$i/trace"
getppid_on
"$prog" chain 10 >"$OUT/said" || fail "chain"
getppid_off
cat "$i/trace" >"$OUT/trace-again"
frames_of "$OUT/trace-again" >"$OUT/frames-again"
compare_chain "$OUT/said" "$OUT/frames-again"

# Instances are created and removed under load.
"$prog" spin 600 &
pid=$!
for n in 1 2 3 4 5 6 7 8; do
	user_instance "round$n"
	echo 1 >"$i/events/syscalls/enable"
	echo 1 >"$i/tracing_on"
	usleep 300000
	until_true 100 100000 grep -q '<user stack unwind>' "$i/trace" ||
		fail "round $n: no user stack"
	echo 0 >"$i/tracing_on"
	kill -0 "$pid" || fail "round $n: no load"
	rmdir "$i" || fail "rmdir round $n"
done
kill "$pid"
wait "$pid"
rmdir "$tracefs/instances/again" || fail "rmdir again"
echo "# $(cat "$OUT/count-threads")"
