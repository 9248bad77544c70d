#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where membarrier(2) is refused, as by a kernel with nohz_full, recordings that end while events
# happen add up, and a stack map is reset.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

times=$(scale 2 1 10)

# adds_up BACKEND PREFIX...: recordings by a recorder that PREFIX starts.
adds_up()
{
	backend=$1
	shift
	for _ in $(seq 1 "$times"); do
		"$PROG/getppid" 1000000000 >/dev/null &
		calls=$!
		test_pids="$test_pids $calls"
		"$@" "$STACKONCE" record -q -a --backend "$backend" -d 0.2 \
			-e raw_syscalls:sys_enter -o adds.stk 2>err || {
			cat err
			fail "$*: record failed"
		}
		is_child "$calls" || fail "the calls ended before the recording"
		end_child KILL "$calls"
		want_sum adds.stk
		events=$(counted adds.stk raw_syscalls:sys_enter recorded)
		[ "$events" -ge "$(scale 1000 10)" ] || fail "$*: only $events events"
	done
}

# With one CPU there is no race of a reset with another CPU's stacks (77).
reset='was not'
if [ -x "$PROG/../stackmap/stackmap_reset" ]; then
	rc=0
	"$PROG/nobarrier" "$PROG/../stackmap/stackmap_reset" "$(scale 20 3)" || rc=$?
	case $rc in
	0) reset=was ;;
	77) ;;
	*) fail "a stack map is not reset without membarrier(2)" ;;
	esac
fi
adds_up bpf "$PROG/nobarrier"
need_tracefs
adds_up ftrace "$PROG/nobarrier" "$PROG/nobpf"
full=$(grep '[0-9]' /sys/devices/system/cpu/nohz_full 2>/dev/null || echo none)
note "a stack map $reset reset, $times recordings by BPF and by ftrace add up; nohz_full: $full"
