#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A CPU that comes online during a recording is recorded from then on, timer samples included;
# events on it before that are counted as lost.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

[ -n "${LIVE_VM:-}" ] || skip "takes a CPU offline: only in a test machine"
cpu=/sys/devices/system/cpu/cpu1/online
restore()
{
	echo 1 >$cpu
}
echo 0 >$cpu 2>/dev/null || skip "this kernel cannot take CPU 1 offline"
record_bg -a -o cpu.stk -F 50 -e raw_syscalls:sys_enter
echo 1 >$cpu
sleep 6
taskset 2 "$PROG/getppid" 2000 >/dev/null
taskset 2 "$PROG/spin" 2000 >/dev/null
stop_recorder
want_sum cpu.stk
calls=$("$STACKONCE" script --json --cpu 1 --comm getppid --event 'raw_syscalls:*' cpu.stk | wc -l)
[ "$calls" -ge 2000 ] || fail "$calls of 2000 calls recorded on the CPU that came online"
samples=$("$STACKONCE" script --json --cpu 1 --event 'sample:*' cpu.stk | wc -l)
[ "$samples" -gt 0 ] || fail "no timer samples on the CPU that came online"
note "$calls calls and $samples samples on the CPU that came online"
