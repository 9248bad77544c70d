#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program reads the clock just inside and just outside of each pair: each measured latency lies
# between these bounds, and events without a start or an end are counted as such.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tool jq
rounds=$(scale 60 15)
start=syscalls:sys_enter_sched_get_priority_max
end=syscalls:sys_enter_sched_get_priority_min

# pairs_of OPTION...: prints "NUMBER START END NS" of every pair, sorted; writes the accounting to
# $work/accounting.
pairs_of()
{
	"$STACKONCE" latency --json --start "$start" --end "$end" --by policy --top 1000 "$@" \
		>"$work/json" || fail "latency $* ended with $?"
	jq -r 'select(.type == "slowest") | "\(.by.policy) \(.ts) \(.end_ts) \(.ns)"' \
		"$work/json" | sort -n
	jq -c 'select(.type == "accounting")' "$work/json" >"$work/accounting"
}

# check_pairs NAME: $work/got has the pairs of $work/truth, each within its bounds.
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
				print name ": unknown or duplicate pair: " $0
				bad++
			} else if ($2 < b1[$1] || $2 > a1[$1] || $3 < b2[$1] || $3 > a2[$1] ||
				$4 < b2[$1] - a1[$1] || $4 > a2[$1] - b1[$1] || $4 != $3 - $2) {
				print name ": pair " $0 " outside of " b1[$1], a1[$1], b2[$1],
					a2[$1]
				bad++
			}
		}
		END {
			if (n != want)
				print name ": " n + 0 " pairs of " want
			exit bad > 0 || n != want
		}' "$work/truth" "$work/got" || fail "$1: the pairs differ from the program's"
	note "$1: $want pairs, each within the bounds that the program read"
}

# check_strays NAME: starts without an end and ends without a start are counted, none is lost.
check_strays()
{
	jq -e --argjson strays "$(awk '$1 == "stray" { print $2 }' "$work/truth")" '
		.open + .thread_ended == $strays and .without_start == $strays and
		.across_gap == 0 and .lost_starts == 0 and .lost_ends == 0 and
		.starts == .paired + .open + .thread_ended and
		.ends == .paired + .without_start' "$work/accounting" >/dev/null || {
		cat "$work/accounting"
		fail "$1: the accounting differs from the program's"
	}
}

for mode in nested crossed; do
	# shellcheck disable=SC2086 # an option and its value
	record $roomy -o "$work/$mode.stk" -e "$start" -e "$end" -e sched:sched_process_exit -- \
		sh -c '"$1" "$2" "$3" >"$4"' \
		sh "$PROG/latency_pairs" "$mode" "$rounds" "$work/truth"
	if [ "$mode" = nested ]; then
		pairs_of "$work/$mode.stk" >"$work/got"
	else
		pairs_of --match policy "$work/$mode.stk" >"$work/got"
	fi
	check_pairs "$mode"
	check_strays "$mode"
done

# The thread is the wrong key for pairs that another thread ends: such pairs must not pass.
pairs_of "$work/crossed.stk" >"$work/got"
[ -s "$work/got" ] || fail "there are no pairs by thread"
(check_pairs 'by thread') >/dev/null && fail "check_pairs accepts pairs of the wrong threads"

# A selection does not change the pairs: the first thread has the pairs that it began.
tid=$(jq -s '[.[] | select(.type == "slowest")][0].tid' "$work/json")
"$STACKONCE" latency --json --start "$start" --end "$end" --match policy --by tid --tid "$tid" \
	"$work/crossed.stk" | jq -e -s --argjson tid "$tid" --argjson rounds "$rounds" '
	[.[] | select(.type == "group")] as $groups |
	($groups | length) == 1 and $groups[0].by.tid == $tid and
	$groups[0].count == 3 * $rounds and
	(.[-1] | .starts == .paired + .open + .thread_ended + .unselected_starts)' >/dev/null ||
	fail "the pairs that thread $tid began differ from the program's"
