#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq and of another shell have variables of their own
# A program waits for futexes in every possible way, each on its own address, and prints the
# expected result.  Every wait is found at its address, with its whole call path, its waker, and the
# waker's call path; the sum of the waits differs by less than 1 % from what the program measured.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

calls='syscalls:sys_*_futex*,sched:sched_waking'

# In an emulated machine much time passes between the program's reading of the clock and its call:
# the sum is below what the program measured, by an unknown amount.
slow=$(scale 0 1)

# want WHAT FILTER: checks every fact of that kind; the jq filter gets it as ., and prints what is
# wrong, which is appended to the file `wrong`.
want()
{
	jq -rn --slurpfile truth truth.json --slurpfile answer address.json --arg what "$1" \
		--argjson slow "$slow" '
	def near($x; $y; $percent):
		if $slow == 1 then $x <= $y * 1.01 and $x >= $y / 5
		else ($x - $y | fabs) <= $y * $percent / 100 end;
	def group($address):
		[$answer[] | select(.type == "group" and .address == $address)][0] // {};
	def wakers: [.stacks[]?.waker | select(.)];
	def call($function): any(.frames[]; .sym == $function);
	def wrong($why): "\($what) \(.address // ""): \($why)";
	$truth[] | select(.what == $what) | '"$2" >>wrong || fail "jq: want $1"
	grep -q "\"what\":\"$1\"" truth.json || fail "the program prints no fact about $1"
}

all_facts()
{
	want path '. as $t | ($truth[] | select(.what == "waker")) as $waker |
		group(.address) as $g | ($g | wakers) as $wakers |
		if $g.waits != .waits or $g.timeouts != .timeouts then
			wrong("\($g.waits) waits, \($g.timeouts) timeouts")
		elif $g.no_waker != 0 or ($wakers | length) == 0 then wrong("no waker")
		elif ([$g.stacks[].count] | add) != .waits then wrong("not all waits have a stack")
		elif any($g.stacks[]; .ustack_end != "complete") then
			wrong("a stack is not complete")
		elif any($g.stacks[]; ([.frames[].sym // "" | select(startswith("path_"))] |
			join(",")) != $t.frames) then wrong("another path: \($g.stacks)")
		elif any($wakers[]; .tid != $waker.tid or .by != "call" or
			(call("wake_sleeper") | not)) then
			wrong("another waker: \($wakers)")
		elif near($g.sum_ns; .ns; 10) | not then wrong("\($g.sum_ns) ns, not \(.ns)")
		else empty end'
	want mutex '. as $t | group(.address) as $g |
		if $g.waits != .waits or $g.lock != "mutex" or
			$g.owner_changes != .owner_changes then
			wrong("\($g | del(.stacks))")
		elif any($g | wakers[]; call("unlock_it") | not) or
			any($g.stacks[]; call("lock_it") | not) then
			wrong("another call path: \($g.stacks)")
		elif near($g.sum_ns; .ns; 2) | not then wrong("\($g.sum_ns) ns, not \(.ns)")
		else empty end'
	want pi 'group(.address) as $g |
		if $g.waits != .waits or $g.lock != "pi" or $g.owner_changes != .owner_changes or
			$g.no_waker != 0 then wrong("\($g | del(.stacks))")
		elif near($g.sum_ns; .ns; 2) | not then wrong("\($g.sum_ns) ns, not \(.ns)")
		else empty end'
	# one futex, printed with either of its two addresses
	want shared '. as $t | (group(.address), group(.other) | select(.waits)) as $g |
		if $g.waits != .waits or $g.places != 2 or ($g.shared | not) or
			$g.wakes != .wakes then
			wrong("\($g | del(.stacks))")
		elif any($g | wakers[]; .pid != $t.waker) then
			wrong("another waker: \($g | wakers)")
		elif near($g.sum_ns; .ns; 2) | not then wrong("\($g.sum_ns) ns, not \(.ns)")
		else empty end'
	for what in requeue part; do
		want "$what" '. as $t | group(.address) as $g | group(.to) as $to |
		if $g.waits != .waits or $g.requeued != .moved or $to.waits != .moved then
			wrong("\($g | del(.stacks)) then \($to | del(.stacks))")
		elif near($g.sum_ns + $to.sum_ns; .ns; 2) | not then
			wrong("\($g.sum_ns) + \($to.sum_ns) ns, not \(.ns)")
		else empty end'
	done
	want interrupted 'group(.address) as $g |
		if $g.waits != .waits or $g.interrupted != .waits then
			wrong("\($g | del(.stacks))")
		elif near($g.sum_ns; .ns; 2) | not then wrong("\($g.sum_ns) ns, not \(.ns)")
		else empty end'
	want wasted 'group(.address) as $g |
		if $g.wakes != .wakes or $g.wasted != .wakes then wrong("\($g)") else empty end'
	want again 'group(.address) as $g |
		if $g.waits != 0 or $g.again != .calls then wrong("\($g)") else empty end'
	# The waiting call does not name the address, but the waking call does.
	want several 'group(.address) as $g |
		if $g.waits != .waits or ($g | wakers | length) != 1 then wrong("\($g)")
		else empty end'
}

# total: compares the sum of all that the program measured with the sum of these addresses.
total()
{
	jq -rn --slurpfile truth truth.json --slurpfile answer address.json '
		[$truth[] | select(.ns)] as $facts | ([$facts[].ns] | add) as $said |
		([$facts[] | .address, .other, .to | select(.)] | unique) as $places |
		([$answer[] | select(.type == "group" and
				(.address as $a | any($places[]; . == $a))).sum_ns] |
			add) as $got |
		"\($said) \($got) \(($got - $said | fabs) / $said * 100)"' >total
	read -r said got percent <total
	awk -v p="$percent" -v most="$(scale 1 80)" 'BEGIN { exit !(p < most) }' ||
		echo "the program waited $said ns, the answer says $got" >>wrong
}

# Time that a hypervisor steals from a thread at its call is part of the wait only in the program's
# view.  Where nothing but times is wrong, or a stack was cut, the test makes another recording, up
# to four.
for _ in 1 2 3 4; do
	moved_before=$(pages_moved)
	record -e "$calls" -o futex.stk -- \
		sh -c 'exec "$0" "$1" >truth' "$user/futexes" "$(scale 9 3)"
	want_user futex.stk
	"$STACKONCE" futex --json --by address --stacks futex.stk >address.json ||
		fail "futex --by address ended with $?"
	"$STACKONCE" futex --json --by site futex.stk >site.json ||
		fail "futex --by site ended with $?"
	facts_of truth >truth.json
	[ "$(wc -l <truth.json)" -ge 34 ] ||
		fail "the program did not print all facts: $(cat truth)"
	: >wrong
	all_facts
	total
	# correct, or wrong in something other than times
	[ -s wrong ] || break
	if grep -qv -e ' ns, not [0-9]*$' -e '^the program waited' wrong &&
		! has_cut futex.stk; then
		break
	fi
done
[ ! -s wrong ] || {
	head -n 20 wrong
	fail "the answer differs from what the program did"
}

# The two threads of the mutex wake each other: the waker of one's waits is the other.
for side in 0 1; do
	other=$(jq -r "select(.what == \"mutex\") | .tid$((1 - side))" truth.json)
	"$STACKONCE" futex --json --by address futex.stk \
		--tid "$(jq -r "select(.what == \"mutex\") | .tid$side" truth.json)" >side.json
	mutex=$(jq -r 'select(.what == "mutex").address' truth.json)
	jq -es --argjson other "$other" --arg address "$mutex" \
		'[.[] | select(.address == $address) | .stacks[].waker.tid] |
		length > 0 and all(. == $other)' side.json >/dev/null ||
		fail "waits of one thread for the mutex have another waker than the other thread:" \
			"$(head -c 2000 side.json)"
done

jq -es '[.[] | select(.type == "sums")][0] | .no_exit == 0 and .gaps == 0 and
	.maybe_requeued == 0 and .at_several_places == 1 and .open == 0' address.json >/dev/null ||
	fail "some calls could not be matched: $(tail -n 1 address.json)"

# By site, the waits are in the variants of the last function outside of libc, whose file and build
# id are known.
jq -es '([.[] | select(.site.sym // "" | startswith("path_6_"))] | length == 3 and
	all(.site.path and .site.build_id)) and
	([.[] | select(.type == "group").sum_ns] | add) == (.[-1].sum_ns)' site.json >/dev/null ||
	fail "the call sites are wrong: $(jq -c 'del(.stacks)' site.json | head -n 20)"

# Waits that begin before or end after the recording, unless it begins or ends between two of them.
"$user/futexes" open >open.truth &
program=$!
test_pids="$test_pids $program"
sleep 0.5
for _ in 1 2 3 4; do
	record -e "$calls" -d 1 -p "$program" -o open.stk
	"$STACKONCE" script --json --no-stacks --pid "$program" --event 'syscalls:*' open.stk |
		jq -r --argjson main "$program" 'select(.tid == $main) | "\(.event) \(.ts)"' \
			>open.calls
	[ ! -s open.calls ] || break # no call where the machine stood still
done
[ -s open.calls ] || fail "the program made no call in four recordings"
"$STACKONCE" futex --json --by address open.stk >open.json || fail "futex ended with $?"
read -r _ _ address _ never <open.truth
began=$(sed -n 1p open.calls | grep -c sys_exit_futex)
open=$(sed -n '$p' open.calls | grep -c sys_enter_futex)
since=$(sed -n '$s/.* //p' open.calls)
jq -es --arg address "$address" --arg never "$never" --argjson began "$began" \
	--argjson open "$open" --argjson since "$since" '.[-1] as $sums |
	$sums.open == $open and $sums.no_enter == $began and
	([.[] | select(.type == "open")] | length == $open and all(.address == $address and
		.since == $since and .age_ns == $sums.last - $since)) and
	all(.[]; .address != $never)' open.json >/dev/null ||
	fail "open waits are wrong: $(cat open.json open.truth open.calls)"
note "$(wc -l <truth) facts; the program waited $said ns, the answer says $got, $percent % off"
