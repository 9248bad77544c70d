# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2016,SC2034 # jq and awk have variables of their own; ours are for the benches
# What the benches share.  They get BUILD (the build directory) and BENCH (this directory).

stackonce=$BUILD/src/cmd/stackonce
prog=$BUILD/tests/live/prog
measure=$BUILD/bench/measure
work=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-bench.XXXXXX")
instance=
recorder=
started=
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

# median: of the numbers on standard input.
median()
{
	sort -n | awk '{ v[NR] = $1 } END {
		if (NR)
			printf "%.2f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
	}'
}

# wait_for SECONDS COMMAND...: until the command works.
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

# The kernel's own tracer, whose settings live and go with the instance.  start_ftrace EVENT OPTION
start_ftrace()
{
	instance=$tracefs/instances/stackonce-bench
	mkdir "$instance" || return 1
	event_dir=$instance/events/$(echo "$1" | tr : /)
	echo 1 >"$instance/options/$2"
	echo 98304 >"$instance/buffer_size_kb"
	echo 1 >"$event_dir/enable"
}

# ftrace_stat NAME...: the sum of these numbers over the CPUs.
ftrace_stat()
{
	awk -F ': ' -v names="$*" '{ if (index(names, $1)) n += $2 } END { print n + 0 }' \
		"$instance"/per_cpu/cpu*/stats
}

# end_ftrace OUT: what it held goes to OUT.raw, how many entries to OUT.read and OUT.lost.
end_ftrace()
{
	echo 0 >"$event_dir/enable"
	ftrace_stat overrun 'dropped events' >"$1.lost"
	ftrace_stat entries >"$1.read"
	"$measure" "$1.cost" timeout 3 sh -c 'for c; do cat <"$c/trace_pipe_raw" & done; wait' sh \
		"$instance"/per_cpu/cpu* >"$1.raw"
	rmdir "$instance"
	instance=
}

describe_machine()
{
	echo "Linux $(uname -r), $(nproc) CPUs, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date +%F)"
}
