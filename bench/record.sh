#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What recording costs the recorded: ns of the workload's own CPU time added per event, against
# other tools that take kernel stacks, on two workloads.  All tools run in turn, several times over,
# and the medians are compared with runs without any tool in between.
#   BENCH_REPEATS  rounds (5)    BENCH_TOOLS  names of tools instead of all
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

repeats=${BENCH_REPEATS:-5}
tools=${BENCH_TOOLS:-'stackonce stackonce-no-stacks perf perf-kernel trace-cmd bpftrace ftrace'}

title()
{
	case $1 in
	stackonce) echo 'stackonce record' ;;
	stackonce-no-stacks) echo '  without stacks' ;;
	perf) echo 'perf record -g' ;;
	perf-kernel) echo 'perf -g --kernel-callchains' ;;
	trace-cmd) echo 'trace-cmd record -T' ;;
	bpftrace) echo 'bpftrace @[kstack]=count()' ;;
	ftrace) echo 'ftrace + stacktrace, raw' ;;
	esac
}

# ---- one tool: start OUT EVENT, armed OUT, stop, counts OUT COMM ---------------------------------

# in_background NAME COMMAND...: under measure, as $recorder.
in_background()
{
	out=$1
	shift
	"$measure" "$out.cost" "$@" >"$out.out" 2>"$out.err" </dev/null &
	recorder=$!
}

start_tool()
{
	out=$work/$1
	event=$2
	case $1 in
	stackonce) in_background "$out" "$stackonce" record -q -a -e "$event" -o "$out.stk" ;;
	stackonce-no-stacks)
		in_background "$out" "$stackonce" record -q -a --no-kernel-stacks -e "$event" -o "$out.stk"
		;;
	perf) in_background "$out" perf record -q -a -g -e "$event" -o "$out.data" ;;
	perf-kernel)
		in_background "$out" perf record -q -a -g --kernel-callchains -e "$event" -o "$out.data"
		;;
	trace-cmd) in_background "$out" trace-cmd record -q -T -e "$event" -o "$out.dat" ;;
	bpftrace)
		in_background "$out" bpftrace -e "tracepoint:$event { @[kstack] = count(); }"
		;;
	ftrace)
		# The instance holds the whole run, read afterwards: what the kernel's own stack trace
		# costs without anyone reading it meanwhile.
		start_ftrace "$event" stacktrace || return 1
		in_background "$out" sleep 1000
		;;
	esac
	wait_for 15 armed "$1" && is_child "$recorder"
}

armed()
{
	is_child "$recorder" || return 0
	case $1 in
	stackonce*)
		[ "$("$stackonce" info --json "$work/$1.stk" | jq '.totals.happened > 0')" = true ]
		;;
	perf*) [ -s "$work/$1.data" ] && sleep 1 ;;
	trace-cmd) sleep 2 ;;
	bpftrace) grep -q Attaching "$work/$1.out" && sleep 1 ;;
	ftrace) sleep 0.2 ;;
	esac
}

stop_tool()
{
	end_child INT "$recorder"
	recorder=
	[ "$1" != ftrace ] || end_ftrace "$work/ftrace"
}

# counts TOOL COMM EVENTS: "BYTES ALL SEEN": bytes in the file, events in it, those of the workload.
counts()
{
	f=$work/$1
	case $1 in
	stackonce*)
		echo "$(wc -c <"$f.stk") $("$stackonce" info --json "$f.stk" | jq .totals.recorded) $(
			"$stackonce" script --json --fields comm "$f.stk" | grep -c "\"$2\"")"
		;;
	perf*)
		perf script -i "$f.data" -F comm -G 2>/dev/null | awk -v comm="$2" -v bytes="$(wc -c <"$f.data")" \
			'NF { all++; seen += $1 == comm } END { print bytes, all + 0, seen + 0 }'
		;;
	trace-cmd)
		trace-cmd report -i "$f.dat" 2>/dev/null | awk -v comm="$2" -v bytes="$(wc -c <"$f.dat")" '
			/^ *[^ ].*-[0-9]+ +\[/ && !/<stack trace/ { all++; seen += index($1, comm "-") == 1 }
			END { print bytes, all + 0, seen + 0 }'
		;;
	bpftrace) awk -F ': ' '/^]: [0-9]+$/ { n += $2 } END { print 0, n + 0, n + 0 }' "$f.out" ;;
	ftrace)
		# Every event is two entries, itself and its stack.
		wc -c <"$f.raw" | awk -v read="$(cat "$f.read")" -v lost="$(cat "$f.lost")" -v n="$3" \
			'{ print $1, read / 2, n * read / (read + lost) }'
		;;
	esac
}

# ---- one workload -------------------------------------------------------------------------------

run_workload()
{
	"$prog/$comm" "$amount" "$cpu" >"$work/load" || exit 1
	awk '$1 == "events" { n = $2 } $1 == "cpu_ns" { printf "%.2f\n", $2 / n }' "$work/load"
}

# One round of one tool: its ns per event go to TOOL.ns, its own cost to TOOL.cpu and TOOL.peak.
run_tool()
{
	[ ! -e "$work/$1.failed" ] || return 0
	rm -f "$work/$1.stk" "$work/$1.data"
	if ! start_tool "$1" "$event"; then
		wait "$recorder" 2>/dev/null
		recorder=
		grep -v '^$' "$work/$1.err" | tail -n 1 | sed 's/^ *//' >"$work/$1.failed"
		[ -z "$instance" ] || rmdir "$instance"
		instance=
		return 0
	fi
	run_workload >>"$work/$1.ns"
	stop_tool "$1"
	echo "$(value "$work/$1.cost" cpu_ns) $(value "$work/load" events)" |
		awk '{ printf "%.1f\n", $1 / $2 }' >>"$work/$1.cpu"
	value "$work/$1.cost" peak_kb >>"$work/$1.peak"
}

print_row()
{
	if [ -e "$work/$1.failed" ]; then
		printf '%-28s did not run: %s\n' "$(title "$1")" "$(cat "$work/$1.failed")"
		return
	fi
	total=$(value "$work/load" events)
	counts "$1" "$comm" "$total" >"$work/counts"
	awk -v title="$(title "$1")" -v base="$(median <"$work/base.ns")" -v ns="$(median <"$work/$1.ns")" \
		-v cpu="$(median <"$work/$1.cpu")" -v peak="$(median <"$work/$1.peak")" \
		-v ours="$(if [ -s "$work/stackonce.ns" ]; then median <"$work/stackonce.ns"; fi)" -v total="$total" '{
		lost = total > $3 ? 100 * (total - $3) / total : 0
		ratio = ours ? sprintf("%.2f", (ns - base) / (ours - base)) : "-"
		bytes = $1 ? sprintf("%.1f", $1 / $2) : "-"
		printf "%-28s %9.0f %8s %9.2f %% %9s %12.0f %9.1f\n", title, ns - base, ratio, lost, bytes,
			cpu, peak / 1024
	}' "$work/counts"
}

# bench_workload PROGRAM AMOUNT CPU EVENT
bench_workload()
{
	comm=$1
	amount=$2
	cpu=$3
	event=$4
	for old in "$work"/*; do
		rm -rf "$old"
	done
	for _ in $(seq 1 "$repeats"); do
		run_workload >>"$work/base.ns"
		for t in $tools; do
			run_tool "$t"
		done
	done
	printf '\n%s, %s: %.0f ns per event without a tool\n' "$comm" "$event" "$(median <"$work/base.ns")"
	printf '%-28s %9s %8s %11s %9s %12s %9s\n' tool '+ns/event' ratio lost B/event 'rec. ns/ev' 'peak MB'
	for t in $tools; do
		print_row "$t"
	done
}

tracefs_mount
describe_machine
echo "added ns: median CPU time of the workload per event with the tool, less that without; ratio: of"
echo "the added ns to stackonce's; lost: events of the workload that are not in the result; rec. ns/ev,"
echo "peak MB: CPU time and memory of the recorder.  Medians of $repeats rounds."
bench_workload pingpong 100000 0 sched:sched_switch
bench_workload getppid 500000 0 raw_syscalls:sys_enter
