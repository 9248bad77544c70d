#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The clock is set back and forth during recordings with -k tai: all events are recorded in the
# order in which they happened, and the recorder says that the clock was set.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

[ -n "${LIVE_VM:-}" ] || skip "sets the clock: only in a test machine"
need_tracefs
event=syscalls:sys_enter_getppid

# set_clock SECONDS: sets it by so many.
set_clock()
{
	date -s "@$(($(date +%s) + $1))" >/dev/null || fail "the clock cannot be set"
}

# told NUMBER: the recorder has noticed that the clock was set so often.
told()
{
	[ "$(grep -c "clock 'tai' was set" err)" -ge "$1" ]
}

for backend in bpf ftrace; do
	steps=0
	rm -f tai.stk
	# record_bg waits for an accounting, so another event is frequent
	"$STACKONCE" record -a -k tai --backend $backend -e $event -e raw_syscalls:sys_exit \
		-o tai.stk 2>err &
	recorder=$!
	test_pids="$test_pids $recorder"
	wait_armed $recorder tai.stk
	for step in -3600 1800 -7200; do
		"$PROG/getppid" 50 >/dev/null
		set_clock $step
		"$PROG/getppid" 50 >/dev/null
		steps=$((steps + 1))
		until_true 60 told $steps ||
			fail "$backend: nothing says that the clock was set: $(cat err)"
	done
	set_clock 9000
	cp err "$work/record_bg.err"
	stop_recorder
	want_sum tai.stk
	[ "$(counted tai.stk $event recorded)" -eq 300 ] ||
		fail "$backend: $(counted tai.stk $event recorded) of 300 calls are recorded"
	[ "$(info_of tai.stk .late)" -eq 0 ] || fail "$backend: events are late"
	"$STACKONCE" script --json --fields ts --event $event tai.stk |
		jq -es '[.[].ts] | . == sort and .[-1] - .[0] < 100e9' >/dev/null ||
		fail "$backend: the times of the calls follow the clock"
	info_of tai.stk -r '.meta["clock.steps"]' | grep -q '^-36.* at .*, 1[78].*, -7[12]' ||
		fail "$backend: metadata: $(info_of tai.stk '.meta["clock.steps"]')"
done
note "$(info_of tai.stk -r '.meta["clock.steps"]')"
