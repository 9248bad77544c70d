# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# User stacks from the kernel command line on: those of the first programs are there.
# needs: variant=default smp=2 mem=1024 alone
# needs: append="trace_event=syscalls:sys_enter_execve trace_options=stackmap,userstacktrace,stacktrace trace_buf_size=4M"
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

i=$tracefs
[ -e "$i/user_stack_map" ] || skip "this kernel has no user_stack_map"
for option in stackmap userstacktrace; do
	[ "$(cat "$i/options/$option")" -eq 1 ] || fail "the option $option is off"
done
echo begun >"$i/trace_marker" || fail "trace_marker"
echo 1 >"$i/events/syscalls/sys_enter_getppid/enable"
"$prog" chain 3 >"$OUT/said" || fail "chain"
tracing_off "$i"
cat "$i/trace" >"$OUT/trace"
frames_of "$OUT/trace" >"$OUT/frames"
compare_chain "$OUT/said" "$OUT/frames"
paths_of "$OUT/trace"
grep -q 'tracing_mark_write: begun$' "$OUT/trace" || fail "no marker in the trace"
sed '/tracing_mark_write: begun$/,$d' "$OUT/trace" >"$OUT/before"
programs=$(grep -c 'sys_execve(' "$OUT/before")
stacks=$(grep -c '<user stack unwind>' "$OUT/before")
[ "$programs" -gt 0 ] && [ "$stacks" -gt 0 ] ||
	fail "$programs programs and $stacks user stacks before this test"
note "before this test: $programs programs, $stacks user stacks"
