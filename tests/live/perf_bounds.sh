#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf counts the same with and without stackonce.  Its counts are bounds for the happened events of
# a recording: perf counts no more if it runs inside the recording, and no fewer if it runs outside.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tool perf
n=$(scale 50000 5000)
call=syscalls:sys_enter_getppid

# perf_count OUT ARGS...: writes perf's count to OUT.
perf_count()
{
	out=$1
	shift
	perf stat -x, -o "$out.stat" "$@" >/dev/null 2>"$out.err" || {
		cat "$out.err"
		fail "perf stat $* failed"
	}
	awk -F, '/^[0-9]/ { print $1 }' "$out.stat" >"$out"
	[ -s "$out" ] || fail "perf counted nothing: $(cat "$out.stat")"
}

perf stat -x, -e $call -o probe -- true 2>/dev/null >/dev/null ||
	skip "perf cannot count tracepoints here"

perf_count alone -e $call -- "$PROG/getppid" "$n"
record_bg -a -o in.stk -e $call -e sched:sched_switch
perf_count beside -e $call -- "$PROG/getppid" "$n"
perf_count inner -a -e sched:sched_switch -- sleep "$(scale 1 2)"
stop_recorder
want_sum in.stk
[ "$(cat alone)" -eq "$n" ] || fail "perf alone counts $(cat alone) of $n"
[ "$(cat beside)" -eq "$n" ] || fail "perf beside stackonce counts $(cat beside) of $n"
happened=$(counted in.stk sched:sched_switch happened)
[ "$happened" -ge "$(cat inner)" ] ||
	fail "only $happened events happened, but perf inside counted $(cat inner)"

# Other BPF programs that return 0 hide events from perf while they run, so there are three tries.
for try in 1 2 3; do
	rm -f out.stk
	perf_count outer -a -e sched:sched_switch -- "$STACKONCE" record -q -a -d "$(scale 1 2)" \
		-o out.stk -e sched:sched_switch
	happened=$(counted out.stk sched:sched_switch happened)
	[ "$happened" -gt 0 ] || fail "no event happened"
	[ "$happened" -gt "$(cat outer)" ] || break
	[ "$try" -lt 3 ] || fail "$happened events happened, but perf outside counted $(cat outer)"
done
note "perf counts $n calls with and without stackonce;" \
	"$happened switches happened, perf outside counts $(cat outer)"
