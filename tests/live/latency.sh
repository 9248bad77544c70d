#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Pairs whose lengths the program knows by its own clock: what is measured lies between what it read
# just inside and just outside of each pair, one by one; what has no other end is said to have none.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tool jq
rounds=$(scale 60 15)
start=syscalls:sys_enter_sched_get_priority_max
end=syscalls:sys_enter_sched_get_priority_min

# pairs_of OPTION...: "NUMBER START END NS" of every pair, sorted; the rest goes to $work/accounting.
pairs_of()
{
	"$STACKONCE" latency --json --start "$start" --end "$end" --by policy --top 1000 "$@" \
		>"$work/json" || fail "latency $* ended with $?"
	jq -r 'select(.type == "slowest") | "\(.by.policy) \(.ts) \(.end_ts) \(.ns)"' \
		"$work/json" | sort -n
	jq -c 'select(.type == "accounting")' "$work/json" >"$work/accounting"
}

# check_pairs NAME: the pairs in $work/got are those of $work/truth, each within its bounds.
check_pairs()
{
	want=$(grep -vc stray "$work/truth")
	awk -v name="$1" -v want="$want" '
		FNR == NR {
			if ($1 != "stray") {
				b1[$1] = $2; a1[$1] = $3; b2[$1] = $4; a2[$1] = $5
			}
			next
		}
		{
			n++
			if (!($1 in b1) || seen[$1]++) {
				print name ": no such pair, or once more: " $0
				bad++
			} else if ($2 < b1[$1] || $2 > a1[$1] || $3 < b2[$1] || $3 > a2[$1] ||
				$4 < b2[$1] - a1[$1] || $4 > a2[$1] - b1[$1] || $4 != $3 - $2) {
				print name ": pair " $0 " outside of " b1[$1], a1[$1], b2[$1], a2[$1]
				bad++
			}
		}
		END {
			if (n != want)
				print name ": " n + 0 " pairs of " want
			exit bad > 0 || n != want
		}' "$work/truth" "$work/got" || fail "$1: the pairs are not those of the program"
	note "$1: $want pairs, each within what the program read"
}

# check_strays NAME: both kinds of events without their other half are counted, none is lost.
check_strays()
{
	jq -e --argjson strays "$(awk '$1 == "stray" { print $2 }' "$work/truth")" '
		.open + .thread_ended == $strays and .without_start == $strays and
		.across_gap == 0 and .lost_starts == 0 and .lost_ends == 0 and
		.starts == .paired + .open + .thread_ended and
		.ends == .paired + .without_start' "$work/accounting" >/dev/null || {
		cat "$work/accounting"
		fail "$1: the accounting is not that of the program"
	}
}

for mode in nested crossed; do
	# shellcheck disable=SC2086 # an option and its value
	record $roomy -o "$work/$mode.stk" -e "$start" -e "$end" -e sched:sched_process_exit -- \
		sh -c '"$1" "$2" "$3" >"$4"' sh "$PROG/latency_pairs" "$mode" "$rounds" "$work/truth"
	if [ "$mode" = nested ]; then
		pairs_of "$work/$mode.stk" >"$work/got"
	else
		pairs_of --match policy "$work/$mode.stk" >"$work/got"
	fi
	check_pairs "$mode"
	check_strays "$mode"
done

# Threads are the wrong key for what another thread ends: such pairs must not pass this test.
pairs_of "$work/crossed.stk" >"$work/got"
(check_pairs 'by thread') >/dev/null && fail "pairs of the wrong threads were taken for the right ones"

# What is selected is paired as without: the first thread's pairs are those with its numbers.
tid=$(jq -s '[.[] | select(.type == "slowest")][0].tid' "$work/json")
"$STACKONCE" latency --json --start "$start" --end "$end" --match policy --by tid --tid "$tid" \
	"$work/crossed.stk" | jq -e -s --argjson tid "$tid" --argjson rounds "$rounds" '
	[.[] | select(.type == "group")] as $groups |
	($groups | length) == 1 and $groups[0].by.tid == $tid and
	$groups[0].count == 3 * $rounds and
	(.[-1] | .starts == .paired + .open + .thread_ended + .unselected_starts)' >/dev/null ||
	fail "the pairs that thread $tid began are not those of the program"
