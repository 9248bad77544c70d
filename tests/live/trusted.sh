#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq and awk have variables of their own
# timeout: 240
# An overloaded recording, its recorder stopped now and then: offcpu, futex and lifecycle trust what latency
# trusts of the same events, and nothing that is trusted touches a loss as script prints it.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tool jq
cd "$work" || exit 1

events=sched:sched_switch,sched:sched_process_fork,sched:sched_process_exit
events=$events,syscalls:sys_enter_futex,syscalls:sys_exit_futex

# load SECONDS: switches, futex calls, children; fewer threads than latency has groups.
load()
{
	timeout "$1" sh -c 'while :; do
		head -c 2000000 /dev/zero | xz -T2 -0 -c | cat >/dev/null
		/bin/true; /bin/true; sleep 0.05
	done' || :
}

record_bg -a --buffer-size 16k -e "$events" -o busy.stk
load "$(scale 8 30)" &
load=$!
i=0
while [ $((i += 1)) -le 6 ]; do
	sleep 1
	kill -STOP "$recorder"
	sleep 0.2
	kill -CONT "$recorder"
done
wait "$load"
stop_recorder

lost=$(info_of busy.stk .totals.lost)
[ "$lost" -gt 0 ] || fail "nothing was lost: the rings are not small"
"$STACKONCE" script --json --fields time busy.stk | grep '"type":"loss"' >losses.json ||
	fail "$lost events were lost, and script prints no loss"

# pairs NAME BY START END OPTIONS...: what latency trusts, by thread: thread, number and time in NAME.ours, and
# the slowest pairs, which are the first to be across a loss: start, end, thread.
pairs()
{
	name=$1
	by=$2
	start=$3
	end=$4
	shift 4
	"$STACKONCE" latency --start "$start" --end "$end" --by "$by" --top 1000 --json "$@" busy.stk \
		>latency.json || fail "latency of $name"
	jq -r 'select(.type == "slowest") | "\(.ts) \(.end_ts) \(.tid)"' latency.json | sort -n >"$name.pairs"
	jq -r --arg by "$by" 'select(.type == "group") | "\(.by[$by]) \(.count) \(.sum_ns)"' latency.json |
		sort >"$name.ours"
	[ "$name" != switch ] || [ -s switch.pairs ] || fail "latency trusts nothing"
}

# none_across NAME START END: no pair touches a loss of one of these types.
none_across()
{
	jq -r --arg start "$2" --arg last "$3" 'select(.event == null or .event == $start or .event == $last) |
		"\(.ts) \(.end_ts // 1e19)"' losses.json | sort -n >"$1.losses"
	awk 'FNR == NR { from[n++] = $1; to[n - 1] = $2; next }
		{
			for (i = 0; i < n && from[i] <= $2; i++)
				if (to[i] >= $1) {
					print "pair " $0 " and loss " from[i] " " to[i]
					exit 1
				}
		}' "$1.losses" "$1.pairs" || fail "$1: trusted across a loss"
}

# same NAME: what is in NAME.ours, sums by thread, is in NAME.theirs.
same()
{
	[ "$(jq 'select(.type == "accounting").pairs_in_others' latency.json)" -eq 0 ] ||
		fail "$1: more threads than latency has groups"
	cmp -s "$1.ours" "$1.theirs" || {
		diff "$1.ours" "$1.theirs" | head
		fail "$1: latency trusts others"
	}
}

pairs switch prev_pid sched:sched_switch sched:sched_switch --match prev_pid=next_pid
none_across switch sched:sched_switch sched:sched_switch
"$STACKONCE" offcpu --by tid --json busy.stk | jq -r 'select(.kind == "group") |
	"\(.tid) \(.count) \(.sum_ns)"' | sort >switch.theirs
same switch

pairs futex tid syscalls:sys_enter_futex syscalls:sys_exit_futex
none_across futex syscalls:sys_enter_futex syscalls:sys_exit_futex
across=$(jq 'select(.type == "accounting").across_gap' latency.json)
waits=$("$STACKONCE" futex --json busy.stk | jq 'select(.kind == "sums").waits')
calls=$(jq 'select(.type == "accounting").paired' latency.json)
[ "$waits" -le "$calls" ] || fail "futex trusts $waits waits, latency $calls calls only"

pairs life child_pid sched:sched_process_fork sched:sched_process_exit --match child_pid=pid
none_across life sched:sched_process_fork sched:sched_process_exit
total=$(awk '{ n += $2 } END { print n }' switch.ours)
note "$lost lost in $(wc -l <losses.json) losses; trusted: $total times off CPU, $calls futex calls" \
	"($across not), $waits waits, $(wc -l <life.pairs) lives"
