#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two recorders at the same time record the same events, and the counters of each add up.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

n=$(scale 50000 5000)
call=syscalls:sys_enter_getppid
# A unique name and a filter, because other processes may call getppid, too: their calls are neither
# recorded nor lost.
comm=gp$$
cp "$PROG/getppid" $comm
# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy -k mono -o a.stk -e $call --filter "comm == \"$comm\"" -e sched:sched_switch
first=$recorder
# shellcheck disable=SC2086
record_bg -a $roomy -k mono -o b.stk -e $call --filter "comm == \"$comm\"" -e sched:sched_switch
./$comm "$n" >/dev/null
stop_recorder
recorder=$first
stop_recorder
for f in a b; do
	want_sum $f.stk
	lost=$(counted $f.stk $call lost)
	"$STACKONCE" script --json --event $call --comm $comm $f.stk |
		jq 'select(.type == "event").kstack' >$f.ids
	want_calls "$f" "$n" "$(wc -l <$f.ids)" "$lost" "$(edge_of $f.stk $call)"
	# The same call from the same code has one stack, even if another recorder runs.
	id=$(sort -u $f.ids)
	case $id in
	'' | *[!0-9]*) fail "$f: one call path does not have one stack id, but:" "$id" ;;
	esac
	"$STACKONCE" stacks --json --id "$id" $f.stk |
		jq -r '.frames[] | "\(.sym)+\(.off)"' >$f.frames
	[ -s $f.frames ] || fail "$f: stack $id has no frames"
done
cmp a.frames b.frames || fail "the two recordings have different stacks"
note "$n calls, $(wc -l <a.frames) frames each"
