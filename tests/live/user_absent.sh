#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# While a page of a stack is absent, as one that was swapped out or that the kernel is about to move
# to another NUMA node, its stacks have the frames up to there, and are marked as unreadable; before
# and afterwards they are whole.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

rounds=$(scale 200 50 2000)
echo "$(until_loaded absent.stk uabsent "'$user/uabsent' 5")
exec '$user/uabsent' $rounds" >all
record -e syscalls:sys_enter_futex -o absent.stk -- sh all
want_user absent.stk
grep '^levels ' record.out >levels || fail "uabsent: $(cat record.out)"
read -r _ levels _ from _ to <<-END
	$(tail -1 levels)
END

# The events of the last run, which has the most: address, levels, end, whole or not.
"$STACKONCE" script --json --stacks absent.stk |
	jq -nr 'reduce inputs as $r ({stacks: {}, runs: {}};
		if $r.type == "stack" then .stacks[$r.id | tostring] = $r
		elif $r.type == "event" and $r.comm == "uabsent"
		then .runs[$r.pid | tostring] += [$r]
		else . end) | .stacks as $stacks | [.runs[]] | max_by(length)[] |
		$stacks[.ustack | tostring] as $s | ($s.frames | map(.sym // "")) as $names |
		"\(.fields.uaddr) \($names | map(select(startswith("level"))) | length) " +
		"\($s.end) \($names[-1] == "_start")"' |
	sort | uniq -c >got || fail "the events cannot be read"
calls=$((rounds * 5))
lost=$(info_of absent.stk .totals.lost)
# shellcheck disable=SC2046 # two numbers
set -- $(awk -v calls="$calls" -v lost="$lost" -v levels="$levels" -v from="$from" -v to="$to" '
	{ is_whole = $2 ~ /^0x70/; cut = $4 == "unreadable" && (is_whole || $3 < from) }
	is_whole { whole += $1; right = $3 == levels && $4 == "complete" && $5 == "true" }
	!is_whole { absent += $1; right = $3 >= from && $3 <= to && $4 == "unreadable" }
	{ bad += !right && !cut; all_cut += cut ? $1 : 0 }
	END {
		bad += whole > calls || absent > calls || whole + absent + lost < 2 * calls
		print bad, all_cut + 0
	}' got)
[ "$1" -eq 0 ] || {
	cat got
	fail "not $calls whole stacks of $levels levels, and $calls of $from to $to"
}
[ "$2" -eq 0 ] || {
	cat got
	[ "$(pages_moved)" -gt "$moved_before" ] || fail "$2 stacks are cut, and no page was moved"
	spoilt "$2 stacks are cut at pages that were moved"
}
note "$(awk '{ printf "%s%d of %s levels, %s", (NR > 1 ? "; " : ""), $1, $3, $4 }' got)"
