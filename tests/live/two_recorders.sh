#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two recorders at the same time record the same events, and the counters of each add up.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

n=$(scale 50000 5000)
call=syscalls:sys_enter_getppid
# A unique name, because other processes may call getppid, too.
comm=gp$$
cp "$PROG/getppid" $comm
record_bg -a -k mono -o a.stk -e $call -e sched:sched_switch
first=$recorder
record_bg -a -k mono -o b.stk -e $call -e sched:sched_switch
./$comm "$n" >/dev/null
stop_recorder
recorder=$first
stop_recorder
for f in a b; do
	want_sum $f.stk
	lost=$(counted $f.stk $call lost)
	seen=$("$STACKONCE" script --json --event $call --comm $comm $f.stk | wc -l)
	want_calls "$f" "$n" "$seen" "$lost" "$(edge_of $f.stk $call)"
	# The same call from the same code has one stack, even if another recorder runs.
	[ "$("$STACKONCE" script --json --event $call --comm $comm $f.stk | jq .kstack | sort -u |
		wc -l)" -eq 1 ] || fail "$f: one call path has several stack ids"
done
for f in a b; do
	id=$("$STACKONCE" script --json --event $call --comm $comm $f.stk | head -n 1 |
		jq .kstack)
	"$STACKONCE" stacks --json --id "$id" $f.stk |
		jq -r '.frames[] | "\(.sym)+\(.off)"' >$f.frames
done
cmp a.frames b.frames || fail "the two recordings have different stacks"
note "$n calls, $(wc -l <a.frames) frames each"
