#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq and awk have variables of their own
# In a recording with losses, whose recorder was stopped now and then, offcpu, futex and lifecycle
# trust the same intervals as latency, and no trusted interval overlaps a loss that script prints.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tool jq
cd "$work" || exit 1

events=sched:sched_switch,sched:sched_process_fork,sched:sched_process_exit
events=$events,sched:sched_process_free,syscalls:sys_exit_wait4,syscalls:sys_exit_waitid
events=$events,syscalls:sys_enter_futex,syscalls:sys_exit_futex

# Single-threaded children with a unique name.
child=tr$$
cp /bin/true $child || exit 1

# load SECONDS: switches, futex calls and children, with fewer threads than latency has groups.
load()
{
	timeout "$1" sh -c 'while :; do
		head -c 2000000 /dev/zero | xz -T2 -0 -c | cat >/dev/null
		/bin/true; /bin/true; sleep 0.05
	done' || :
}

# record_busy SIZE: makes a recording with rings of that size.
record_busy()
{
	sh -c "while :; do ./$child; sleep 0.05; done" &
	forker=$!
	test_pids="$test_pids $forker"
	rm -f busy.stk # record_bg waits for a new one
	record_bg -a --buffer-size "$1" -e "$events" -o busy.stk
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
	kill "$forker"
	stop_recorder
}

# some_trusted: futex and lifecycle trust some of the intervals that are compared below.
some_trusted()
{
	waits=$("$STACKONCE" futex --json --comm xz busy.stk | jq 'select(.type == "sums").waits')
	[ "$waits" -gt 0 ] || return
	"$STACKONCE" lifecycle --json --top 0 busy.stk |
		jq -es --argjson by "$forker" --arg child $child '
		[.[] | select(.type == "process" and .parent == $by and .comm == $child)] as
			$children |
		all("lifetime_ns", "teardown_ns", "zombie_ns", "reap_to_free_ns"; . as $ns |
			any($children[]; .[$ns] != null)) and
		any($children[]; .zombie_ns != null and .reap_ts > .zombie_ts)' >/dev/null
}

# Small rings, but not so small that every interval has a loss when the machine is busy.  It may be
# less busy the next time: where nothing is lost, the size before is tried again.
kb=16
for _ in 1 2 3 4 5 6 7 8; do
	size=${kb}k
	record_busy $size
	lost=$(info_of busy.stk .totals.lost)
	if [ "$lost" -eq 0 ]; then
		[ $kb -gt 16 ] || break
		kb=$((kb / 2))
	elif some_trusted; then
		break
	else
		kb=$((kb * 2))
	fi
done
[ "$lost" -gt 0 ] || fail "nothing was lost: the rings of $size are too large for this test"
"$STACKONCE" script --json --fields time busy.stk | grep '"type":"loss"' >losses.json ||
	fail "$lost events were lost, but script prints no loss"

# pairs NAME BY START END OPTIONS...: writes the pairs that latency trusts.  NAME.ours has a line
# with thread, number and time for each thread.  NAME.pairs has the slowest pairs, which are the
# first to overlap a loss: start, end, thread, value of BY.
pairs()
{
	name=$1
	by=$2
	start=$3
	end=$4
	shift 4
	"$STACKONCE" latency --start "$start" --end "$end" --by "$by" --top 1000 --json "$@" \
		busy.stk >latency.json || fail "latency for $name ended with $?"
	jq -r --arg by "$by" 'select(.type == "slowest") |
		"\(.ts) \(.end_ts) \(.tid) \(.by[$by])"' latency.json | sort -n >"$name.pairs"
	jq -r --arg by "$by" 'select(.type == "group") |
		"\(.by[$by]) \(.count) \(.sum_ns)"' latency.json | sort >"$name.ours"
	[ "$name" != switch ] || [ -s switch.pairs ] || fail "latency trusts no pair"
}

# none_across NAME TYPE...: no pair in NAME.pairs overlaps a loss of one of these event types.
none_across()
{
	name=$1
	shift
	jq -r --arg types " $* " '
		select(.event == null or (.event as $e | $types | contains(" \($e) "))) |
		"\(.ts) \(.end_ts // 1e19)"' losses.json | sort -n >"$name.losses"
	awk 'FNR == NR { from[n++] = $1; to[n - 1] = $2; next }
		{
			for (i = 0; i < n && from[i] <= $2; i++)
				if (to[i] >= $1) {
					print "pair " $0 " and loss " from[i] " " to[i]
					exit 1
				}
		}' "$name.losses" "$name.pairs" || fail "$name: a trusted pair overlaps a loss"
}

# in_others: prints the number of pairs without a group of their own.
in_others()
{
	jq 'select(.type == "accounting").pairs_in_others' latency.json
}

# all_in_groups NAME: every pair is in a group.
all_in_groups()
{
	[ "$(in_others)" -eq 0 ] ||
		fail "$1: there are more threads than latency has groups"
}

# same NAME: NAME.ours and NAME.theirs, sums by thread, are equal.
same()
{
	all_in_groups "$1"
	cmp -s "$1.ours" "$1.theirs" || {
		diff "$1.ours" "$1.theirs" | head
		fail "$1: latency trusts other intervals"
	}
}

# A task that has ended (its state is X or Z) is not off CPU, but its number may be used again.
set -- --match prev_pid=next_pid --single --start-if 'prev_state&48=0'
# Beside a fork storm there are more threads than groups: only those of one program are compared.
of=
pairs switch prev_pid sched:sched_switch sched:sched_switch "$@"
[ "$(in_others)" -eq 0 ] || {
	of='--comm xz'
	# shellcheck disable=SC2086 # an option and its value
	pairs switch prev_pid sched:sched_switch sched:sched_switch "$@" $of
}
none_across switch sched:sched_switch sched:sched_switch
# shellcheck disable=SC2086
"$STACKONCE" offcpu --by tid --json $of busy.stk | jq -r 'select(.type == "group") |
	"\(.tid) \(.count) \(.sum_ns)"' | sort >switch.theirs
same switch

pairs futex tid syscalls:sys_enter_futex syscalls:sys_exit_futex
none_across futex syscalls:sys_enter_futex syscalls:sys_exit_futex
across=$(jq 'select(.type == "accounting").across_gap' latency.json)
calls=$(jq 'select(.type == "accounting").paired' latency.json)

# Those calls of xz that waited: FUTEX_WAIT and its variants; woken, timed out or interrupted.
pairs waits tid syscalls:sys_enter_futex syscalls:sys_exit_futex --comm xz
all_in_groups waits
"$STACKONCE" script --json --event 'syscalls:sys_*_futex' busy.stk | jq -r '
	select(.fields != null) |
	"\(.ts) \(.tid) \(if .event == "syscalls:sys_enter_futex" then "op" else "ret" end) \(
	.fields.op // .fields.ret)"' >calls
awk 'FNR == NR { value[$1 " " $2 " " $3] = $4; next }
	{
		op = value[$1 " " $3 " op"] % 128
		ret = value[$2 " " $3 " ret"]
		if (($1 " " $3 " op") in value &&
		    (op == 0 || op == 6 || op == 9 || op == 11 || op == 13) &&
		    ret != "" && (ret == 0 || ret == -110 || ret == -4 ||
		    (ret <= -512 && ret >= -516))) {
			n++
			sum += $2 - $1
		}
	}
	END { printf "%d %.0f\n", n, sum }' calls waits.pairs >waits.ours
"$STACKONCE" futex --json --comm xz busy.stk |
	jq -r 'select(.type == "sums") | "\(.waits) \(.sum_ns)"' >waits.theirs
cmp -s waits.ours waits.theirs ||
	fail "waits and ns of xz differ: latency trusts $(cat waits.ours), futex" \
		"$(cat waits.theirs)"
read -r waits _ <waits.theirs
[ "$waits" -gt 0 ] || fail "futex trusts no wait"

# spans NAME FROM TO TYPE...: writes the intervals NAME whose length lifecycle knows exactly to
# NAME.pairs: start, end, process, parent, comm.
spans()
{
	name=$1
	jq -r --arg ns "$1_ns" --arg from "$2" --arg to "$3" '
		select(.type == "process" and .[$ns] != null and
			.[$from] != null and .[$to] != null) |
		"\(.[$from]) \(.[$to]) \(.pid) \(.parent) \(.comm)"' lifecycles.json |
		sort -n >"$name.pairs"
	[ -s "$name.pairs" ] || fail "lifecycle knows no $name exactly"
	shift 3
	none_across "$name" "$@"
}

"$STACKONCE" lifecycle --json --top 0 busy.stk >lifecycles.json || fail "lifecycle ended with $?"
spans lifetime fork_ts exit_ts sched:sched_process_fork sched:sched_process_exit
spans teardown exit_ts zombie_ts sched:sched_process_exit sched:sched_switch
spans zombie zombie_ts reap_ts sched:sched_switch syscalls:sys_exit_wait4 syscalls:sys_exit_waitid
spans reap_to_free reap_ts free_ts syscalls:sys_exit_wait4 syscalls:sys_exit_waitid \
	sched:sched_process_free

pairs child child_pid sched:sched_process_fork sched:sched_process_exit --match child_pid=pid \
	--pid "$forker"
all_in_groups child
none_across child sched:sched_process_fork sched:sched_process_exit
awk '{ print $1, $2, $4 }' child.pairs >child.ours
awk -v by="$forker" '$4 == by { print $1, $2, $3 }' lifetime.pairs >child.theirs
[ -s child.ours ] || fail "latency trusts no lifetime"
cmp -s child.ours child.theirs || {
	diff child.ours child.theirs | head
	fail "lifecycle and latency trust different lifetimes"
}

# A zombie's end may also be known from other events, but latency must trust every zombie that
# lifecycle trusts.
pairs reaped prev_pid sched:sched_switch syscalls:sys_exit_wait4 --match prev_pid=ret --single \
	--start-if 'prev_state&32=32' --comm $child
all_in_groups reaped
awk '{ print $1, $2, $4 }' reaped.pairs >reaped.ours
awk -v by="$forker" -v child="$child" '
	$4 == by && $5 == child && $2 > $1 { print $1, $2, $3 }' zombie.pairs >reaped.theirs
[ -s reaped.theirs ] || fail "lifecycle knows no child that was reaped"
awk 'FNR == NR { ours[$0]; next } !($0 in ours) { print; bad = 1 } END { exit bad }' \
	reaped.ours reaped.theirs || fail "lifecycle trusts zombies that latency does not"

total=$(awk '{ n += $2 } END { print n }' switch.ours)
note "rings of $size, $lost events lost in $(wc -l <losses.json) losses;" \
	"trusted: $total times off CPU${of:+ of xz}, $calls futex calls ($across not)," \
	"$waits waits, $(wc -l <child.pairs) lifetimes, $(wc -l <reaped.theirs) zombies"
