#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# record --live shows what is recorded while it is recorded, without a terminal as text; the viewer
# ends with the recording, and a viewer that dies ends nothing.  With a preset it shows pairs.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

"$STACKONCE" record --live -a -o live.stk -e sched:sched_switch -d "$(scale 5 8)" </dev/null \
	>out 2>err || fail "record --live: $(cat err)"
[ "$(grep -c '^[0-9,]* events in .*: live.stk$' out)" -ge 2 ] ||
	fail "no view before the end: $(cat out)"
grep -q '%  __schedule' out || fail "no stack in the view: $(cat out)"
# the last view has all events
last=$(sed -n 's/^\([0-9,]*\) events in .*/\1/p' out | tail -n 1 | tr -d ,)
[ "$last" -eq "$(info_of live.stk .totals.recorded)" ] ||
	fail "the last view has $last events of $(info_of live.stk .totals.recorded)"
want_sum live.stk

# the pairs of a preset, in the last interval and since the start; the last view is that of latency
"$STACKONCE" record --live -a -o pairs.stk --preset syscalls -d "$(scale 5 8)" </dev/null \
	>out 2>err || fail "record --live --preset: $(cat err)"
grep -q '^[0-9]* groups of syscalls, now: the last .*, all: since the start$' out ||
	fail "no view of pairs before the end: $(cat out)"
grep -q '^now  *[1-9]' out || fail "no pairs in the last interval: $(cat out)"
sed -n 's/^\([0-9,]*\) pairs in .*/\1/p' out | tail -n 1 | tr -d , >last
"$STACKONCE" latency --preset syscalls --json pairs.stk |
	jq 'select(.type == "accounting").paired' | cmp -s - last ||
	fail "the last view has $(cat last) pairs, latency has others"
want_sum pairs.stk

# a recording that is over before the first view
"$STACKONCE" record --live -o short.stk -e sched:sched_switch -- true </dev/null >out 2>err ||
	fail "record --live true: $(cat err)"
grep -q '^[0-9,]* events\{0,1\} in .*: short.stk$' out || fail "no view of 'true': $(cat out)"

# a recording that does not begin
"$STACKONCE" record --live -o none.stk -e sched:nosuch -d 1 </dev/null >out 2>err &&
	fail "an unknown event is recorded"
[ ! -s out ] || fail "a view without a recording: $(cat out)"

# a viewer that is killed
"$STACKONCE" record --live -a -o killed.stk -e sched:sched_switch -d 3 </dev/null >out 2>err &
recorder=$!
test_pids="$test_pids $recorder"
wait_armed "$recorder" killed.stk
viewer=$(cut -d' ' -f1 "/proc/$recorder/task/$recorder/children")
[ -n "$viewer" ] || fail "record --live has no viewer"
kill -KILL "$viewer"
wait "$recorder" || fail "the recording ended with the viewer: $(cat err)"
grep -q 'the live view has failed; the recording goes on' err || fail "no warning: $(cat err)"
want_sum killed.stk

# a recorder that is killed ends the view of its recording
record_bg -a -o abrupt.stk -e sched:sched_switch
timeout 20 "$STACKONCE" report --follow abrupt.stk </dev/null >out 2>err &
follower=$!
sleep 1
kill -KILL "$recorder"
wait "$follower" || fail "report --follow of a killed recorder: $(cat err)"
grep -q "'abrupt.stk' ended abruptly" err || fail "no warning of an abrupt end: $(cat err)"
grep -q '%  __schedule' out || fail "no view of an abrupt recording: $(cat out)"
