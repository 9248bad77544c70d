#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# record --live shows what is recorded while it is recorded, without a terminal as text; the viewer
# ends with the recording, and a viewer that dies ends nothing.  With a preset it shows pairs.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# live ARGS...: starts a recording with a view.  It would end by itself only if the view never shows
# what the test waits for.
live()
{
	"$STACKONCE" record --live -a -d "$(scale 60 600)" "$@" </dev/null >out 2>err &
	recorder=$!
	test_pids="$test_pids $recorder"
}

end_live()
{
	! is_child "$recorder" || kill -INT "$recorder"
	wait "$recorder" || fail "record --live ended with $?: $(cat err)"
}

two_views()
{
	[ "$(grep -c '^[0-9,]* events in .*: live.stk$' out)" -ge 2 ] && grep -q '%  __schedule' out
}

# last_view: prints how many events the last view has.
last_view()
{
	sed -n 's/^\([0-9,]*\) events in .*/\1/p' out | tail -n 1 | tr -d ,
}

live -o live.stk -e sched:sched_switch
while_runs "$recorder" two_views || fail "no views with stacks before the end: $(cat out err)"
end_live
# the last view has all events
last=$(last_view)
[ "$last" -eq "$(info_of live.stk .totals.recorded)" ] ||
	fail "the last view has $last events of $(info_of live.stk .totals.recorded)"
want_sum live.stk

# the pairs of a preset, in the last interval and since the start; the last view is that of latency
pairs_now()
{
	grep -q '^[0-9]* groups of syscalls, now: the last .*, all: since the start$' out &&
		grep -q '^now  *[1-9]' out
}

live -o pairs.stk --preset syscalls
while_runs "$recorder" pairs_now || fail "no view of pairs before the end: $(cat out err)"
end_live
sed -n 's/^\([0-9,]*\) pairs in .*/\1/p' out | tail -n 1 | tr -d , >last
"$STACKONCE" latency --preset syscalls --json pairs.stk >latency.json ||
	fail "latency ended with $?"
jq 'select(.type == "accounting").paired' latency.json >paired
{ [ -s last ] && cmp -s paired last; } ||
	fail "the last view has $(cat last) pairs, latency has $(cat paired)"
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
live -o killed.stk -e sched:sched_switch
wait_armed "$recorder" killed.stk
viewer=$(cut -d' ' -f1 "/proc/$recorder/task/$recorder/children")
[ -n "$viewer" ] || fail "record --live has no viewer"
kill -KILL "$viewer"
while_runs "$recorder" grep -q 'the live view has failed; the recording goes on' err ||
	fail "no warning: $(cat err)"
before=$(info_of killed.stk .totals.recorded)

goes_on()
{
	info_true killed.stk ".totals.recorded > $before" 2>/dev/null
}

while_runs "$recorder" goes_on || fail "nothing is recorded after the viewer has ended"
is_child "$recorder" || fail "the recording ended with the viewer: $(cat err)"
end_live
want_sum killed.stk

# All that follow a recording end when its recorder is killed.  Each prints something once it has
# read what there is: before that, it may not even have opened the file.
record_bg -a -o abrupt.stk -e sched:sched_switch
for command in script stacks info report; do
	"$STACKONCE" $command --follow abrupt.stk </dev/null >out.$command 2>err.$command &
	eval "$command=\$!"
	test_pids="$test_pids $!"
done
for command in script stacks info report; do
	eval "follower=\$$command"
	while_runs "$follower" test -s out.$command ||
		fail "$command --follow ended before the recorder: $(cat err.$command)"
done
kill -KILL "$recorder"
for command in script stacks info report; do
	eval "follower=\$$command"
	wait "$follower" || fail "$command --follow of a killed recorder: $(cat err.$command)"
	[ "$(grep -c "'abrupt.stk' ended abruptly" err.$command)" -eq 1 ] ||
		fail "$command --follow does not warn of an abrupt end once: $(cat err.$command)"
done
grep -q 'ended abruptly' out.info || fail "info --follow: $(cat out.info)"
mv out.report out
grep -q '%  __schedule' out || fail "no view of an abrupt recording: $(cat out)"
[ "$(last_view)" = "$(printed abrupt.stk 2>err)" ] ||
	fail "the last view has $(last_view) events of an abrupt recording: $(tail -n 20 out)"
