#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recorder's own CPU time per event in a recording of a minute, without that of its start.  The
# load is two processes that pass a byte to and fro.  Prints medians; the variants alternate.  The
# last lines check the promises.
#   BENCH_REPEATS  recordings of each variant (3)
#   BENCH_OLD      another stackonce to compare with
#   BENCH_SECONDS  the length of a recording (60)
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

seconds=${BENCH_SECONDS:-60}

# one NAME STACKONCE: a recording.
one()
{
	rm -f "$work/minute.stk"
	"$2" record -q -a -e sched:sched_switch -d "$seconds" -o "$work/minute.stk" \
		2>"$work/err" </dev/null &
	recorder=$!
	while is_child "$recorder"; do
		"$prog/pingpong" 100000 0 >/dev/null || exit 1
	done
	wait "$recorder" || {
		cat "$work/err" >&2
		exit 1
	}
	recorder=
	# Events; lost, but for the moments when it begins and ends; ns of CPU time per event; ms of
	# the start; bytes per event.
	"$stackonce" info --json "$work/minute.stk" | jq -r '.totals as $all |
		(.meta."cost.start_cpu_ns" | tonumber) as $start |
		(.meta."cost.recorder_cpu_ns" | tonumber) as $cpu |
		[$all.recorded, $all.lost - $all.lost_by.edge, ($cpu - $start) / $all.recorded,
			$start / 1e6, .bytes_per_event] | join(" ")' >>"$work/$1"
}

# column NAME NUMBER
column()
{
	awk -v n="$2" '{ print $n }' "$work/$1"
}

# row NAME WHAT
row()
{
	printf '%-34s %10.0f %6.0f %10.1f %6.1f %9.0f %8.2f\n' "$2" "$(column "$1" 1 | median)" \
		"$(column "$1" 2 | median)" "$(column "$1" 3 | median)" \
		"$(column "$1" 3 | spread)" "$(column "$1" 4 | median)" "$(column "$1" 5 | median)"
}

tracefs_mount
cat <<TEXT
rec. ns/ev: CPU time of the recorder, less that of its start, per event; +-: half of the distance
between the quartiles.  The aim is 50 ns.
TEXT
for _ in $(seq "${BENCH_REPEATS:-3}"); do
	[ -z "${BENCH_OLD:-}" ] || one old "$BENCH_OLD"
	one new "$stackonce"
done
printf '\n%-34s %10s %6s %10s %6s %9s %8s\n' 'record -a -e sched:sched_switch' events lost \
	'rec. ns/ev' '+-' 'start, ms' B/event
[ -z "${BENCH_OLD:-}" ] || row old "$BENCH_OLD"
row new stackonce
promise 'events lost' "$(column new 2 | sort -n | tail -n 1)" 0
[ -z "${BENCH_OLD:-}" ] ||
	promise "the recorder's ns per event; bound: half of the other's" \
		"$(column new 3 | median)" \
		"$(column old 3 | median | awk '{ printf "%.2f\n", $1 / 2 }')" 50
[ "$failures" -eq 0 ]
