# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $TESTS, $OUT
# Futex waits on a kernel of the series without BPF: stackonce says that BPF is unavailable and
# records the waits of the program through ftrace; the host reads the recording (futex.after.sh).
# shellcheck source=kernel/tests/lib.sh
. "$TESTS/lib.sh"

[ -e "$tracefs/file_map" ] || skip "no file map here"
stackonce doctor --json >"$OUT/doctor" || fail "doctor says that nothing can be recorded"
grep '"name":"ftrace_stack_map"' "$OUT/doctor" | grep -q '"ok":true' ||
	fail "doctor does not report the stack map"
stackonce record --user-stacks -e syscalls:sys_enter_futex -e sched:sched_switch \
	-o "$OUT/futex.stk" -- "$TESTS/user_prog" futex 20 >"$OUT/said" 2>"$OUT/err" || {
	cat "$OUT/err"
	fail "the recording failed"
}
grep -q 'BPF is refused here .*: recording with ftrace' "$OUT/err" ||
	fail "it does not print how it records"
[ -z "$(ls "$tracefs/instances")" ] || fail "an instance is left: $(ls "$tracefs/instances")"
# and the text form
stackonce script "$OUT/futex.stk" >"$OUT/text" || fail "script ended with $?"
note "$(grep -c sys_enter_futex "$OUT/text") waits, $(wc -c <"$OUT/futex.stk") bytes"
