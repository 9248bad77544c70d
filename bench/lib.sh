# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2016,SC2034 # jq and awk have variables too; the benches use ours
# Shared by the benches.  They get BUILD (the build directory) and BENCH (this directory).

stackonce=$BUILD/src/cmd/stackonce
prog=$BUILD/tests/live/prog
measure=$BUILD/bench/measure
work=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-bench.XXXXXX")
instance=
recorder=
started=
failures=0
# shellcheck source=tests/tracefs.sh
. "$BENCH/../tests/tracefs.sh"
# shellcheck source=tests/process.sh
. "$BENCH/../tests/process.sh"

cleanup()
{
	trap - EXIT INT TERM
	# shellcheck disable=SC2086 # numbers
	end_child TERM $recorder $started
	if [ -n "$instance" ]; then
		echo 0 >"$instance/tracing_on" 2>/dev/null || :
		sleep 0.2
		rmdir "$instance" 2>/dev/null || :
	fi
	rm -rf "$work"
	tracefs_unmount
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# value FILE KEY: the number in a line "KEY number".
value()
{
	awk -v key="$2" '$1 == key { print $2; exit }' "$1"
}

# median: prints the median of the numbers on stdin.
median()
{
	sort -n | awk '{ v[NR] = $1 } END {
		if (NR)
			printf "%.2f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
	}'
}

# spread: prints half of the distance between the quartiles of the numbers on stdin.
spread()
{
	sort -n | awk '{ v[NR] = $1 } END {
		i = int(NR / 4) + 1
		printf "%.2f\n", (v[NR + 1 - i] - v[i]) / 2
	}'
}

# ns_per_event FILE: what a workload has printed, "events N" and "cpu_ns N", as CPU time per event.
ns_per_event()
{
	awk '$1 == "events" { n = $2 } $1 == "cpu_ns" { printf "%.2f\n", $2 / n }' "$1"
}

# differences A B: the files have a number for each round; prints A - B within each round, so that
# what slows a whole round does not count.
differences()
{
	[ ! -s "$1" ] || [ ! -s "$2" ] ||
		paste "$1" "$2" | awk 'NF == 2 { printf "%.2f\n", $1 - $2 }'
}

# wait_for SECONDS COMMAND...: retries the command until it succeeds.
wait_for()
{
	limit=$1
	shift
	for _ in $(seq 1 $((limit * 10))); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	return 1
}

# start_ftrace EVENTS [OPTION]: starts the kernel's own tracer in an instance, which is removed with
# its settings.  EVENTS are SYSTEM:NAME or SYSTEM:*, separated by commas.
start_ftrace()
{
	instance=$tracefs/instances/stackonce-bench
	mkdir "$instance" || return 1
	[ -z "${2:-}" ] || echo 1 >"$instance/options/$2"
	echo 98304 >"$instance/buffer_size_kb"
	for event_dir in $(echo "$1" | sed 's/:\*//g; s/:/\//g; s/,/ /g'); do
		event_dir=$instance/events/$event_dir
		echo 1 >"$event_dir/enable" || return 1
	done
}

# ftrace_stat NAME...: the sum of these counters over the CPUs.
ftrace_stat()
{
	awk -F ': ' -v names="$*" '{ if (index(names, $1)) n += $2 } END { print n + 0 }' \
		"$instance"/per_cpu/cpu*/stats
}

# end_ftrace OUT: writes the ring buffer to OUT.raw, its number of entries to OUT.read and OUT.lost.
end_ftrace()
{
	echo 0 >"$instance/events/enable"
	ftrace_stat overrun 'dropped events' >"$1.lost"
	ftrace_stat entries >"$1.read"
	# With nonblocking reads, dd ends with an error where cat would wait for more.
	"$measure" "$1.cost" sh -c 'for c; do
		dd if="$c/trace_pipe_raw" bs=4096 iflag=nonblock status=none 2>/dev/null &
	done
	wait' sh "$instance"/per_cpu/cpu* >"$1.raw"
	rmdir "$instance"
	instance=
}

# promise WHAT VALUE BOUND [AIM]: fails if VALUE exceeds BOUND, or if one of them is empty.
promise()
{
	awk -v what="$1" -v value="$2" -v bound="$3" -v aim="${4:-}" '
	function within(limit) { return value != "" && limit != "" && value + 0 <= limit + 0 }
	BEGIN {
		if (aim != "")
			note = ", aim " aim (within(aim) ? " reached" : " not reached")
		printf "%s  %s: %s, at most %s%s\n", within(bound) ? "PASS" : "FAIL", what,
			value == "" ? "none" : value, bound == "" ? "none" : bound, note
		exit !within(bound)
	}' || failures=$((failures + 1))
}

# promise_two_cpus TWO ONE: with one hot stack, an event on two CPUs costs no more than on one, but
# for what the rows vary; each is "NS SPREAD" of a row.
promise_two_cpus()
{
	promise "ns on two CPUs with one hot stack, of one's; bound: 1 + both +- / ns on one" \
		"$(echo "$1 $2" | awk 'NF == 4 { printf "%.3f\n", $1 / $3 }')" \
		"$(echo "$1 $2" | awk 'NF == 4 { printf "%.3f\n", 1 + ($2 + $4) / $3 }')"
}
