#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The cost of recording for the recorded: ns of the workload's own CPU time added per event,
# compared with other tools.  Each round runs all tools in turn and one run without a tool; further
# rounds, four times as many, run those whose difference is promised.  The medians are compared.
# The last lines of a workload check the promises.
#   BENCH_REPEATS    rounds (5)
#   BENCH_TOOLS      the tools to run instead of all
#   BENCH_WORKLOADS  workloads (first column of the table at the end) to run instead of all
#   BENCH_OPTIONS    options for stackonce record, as '--fields native'
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

repeats=${BENCH_REPEATS:-5}
# Rows that are compared within a round are neighbours.
tools=${BENCH_TOOLS:-'stackonce stackonce-no-stacks stackonce-kernel perf perf-kernel trace-cmd
	bpftrace ftrace ftrace-no-stacks'}

title()
{
	case $1 in
	stackonce) echo 'stackonce record' ;;
	*-no-stacks) echo '  without stacks' ;;
	stackonce-kernel) echo '  --kernel-unwind=kernel' ;;
	perf) echo 'perf record -g' ;;
	perf-kernel) echo 'perf -g --kernel-callchains' ;;
	trace-cmd) echo 'trace-cmd record -T' ;;
	bpftrace) echo 'bpftrace @[kstack]=count()' ;;
	ftrace) echo 'ftrace + stacktrace, raw' ;;
	esac
}

# ---- one tool -----------------------------------------------------------------------------------

# in_background NAME COMMAND...: runs it under measure; sets $recorder to its PID.
in_background()
{
	out=$1
	shift
	"$measure" "$out.cost" "$@" >"$out.out" 2>"$out.err" </dev/null &
	recorder=$!
}

# start_tool TOOL: $event is one event, or several separated by commas.
start_tool()
{
	out=$work/$1
	options=${BENCH_OPTIONS:-}
	case $1 in
	stackonce-kernel) options="$options --kernel-unwind=kernel" ;;
	stackonce-no-stacks) options="$options --no-kernel-stacks" ;;
	esac
	case $1 in
	stackonce*)
		# shellcheck disable=SC2086 # options
		in_background "$out" "$stackonce" record -q -a $options -e "$event" -o "$out.stk"
		;;
	perf) in_background "$out" perf record -q -a -g -e "$event" -o "$out.data" ;;
	perf-kernel)
		in_background "$out" perf record -q -a -g --kernel-callchains -e "$event" \
			-o "$out.data"
		;;
	trace-cmd)
		# shellcheck disable=SC2046 # words
		in_background "$out" trace-cmd record -q -T \
			$(echo "$event" | sed 's/^/-e /; s/,/ -e /g') -o "$out.dat"
		;;
	bpftrace)
		# BEGIN runs after all probes are attached.
		in_background "$out" env BPFTRACE_MAX_PROBES=4096 bpftrace -e \
			"BEGIN { printf(\"armed\\n\"); }
			tracepoint:$(echo "$event" | sed 's/,/,tracepoint:/g') {
				@[kstack] = count(); }"
		;;
	ftrace*)
		# The instance holds the whole run and is read afterwards: this measures the
		# kernel's own tracer without a concurrent reader.
		start_ftrace "$event" "$([ "$1" != ftrace ] || echo stacktrace)" || return 1
		in_background "$out" sleep 1000
		;;
	esac
	wait_for 60 armed "$1" && is_child "$recorder"
}

armed()
{
	is_child "$recorder" || return 0
	case $1 in
	stackonce*) [ -s "$work/$1.stk" ] ;; # the file gets its name once programs are armed
	perf*) [ -s "$work/$1.data" ] && sleep 1 ;;
	trace-cmd) sleep 2 ;;
	bpftrace) grep -q armed "$work/$1.out" ;;
	ftrace*) sleep 0.2 ;;
	esac
}

stop_tool()
{
	end_child INT "$recorder"
	recorder=
	case $1 in ftrace*) end_ftrace "$work/$1" ;; esac
}

# counts TOOL EVENTS: prints "BYTES ALL SEEN": bytes of the file, events in it, events of the
# workload.  $comm has the names of its programs, separated by |.
counts()
{
	f=$work/$1
	case $1 in
	stackonce*)
		echo "$(wc -c <"$f.stk") $(
			"$stackonce" info --json "$f.stk" | jq .totals.recorded
		) $(
			"$stackonce" script --json --fields comm "$f.stk" | grep -cE "\"($comm)\"")"
		;;
	perf*)
		perf script -i "$f.data" -F comm -G 2>/dev/null | awk -v comm="^($comm)\$" \
			-v bytes="$(wc -c <"$f.data")" '
			NF { all++; seen += $1 ~ comm }
			END { print bytes, all + 0, seen + 0 }'
		;;
	trace-cmd)
		trace-cmd report -i "$f.dat" 2>/dev/null |
			awk -v comm="^ *($comm)-" -v bytes="$(wc -c <"$f.dat")" '
			/^ *[^ ].*-[0-9]+ +\[/ && !/<stack trace/ { all++; seen += $0 ~ comm }
			END { print bytes, all + 0, seen + 0 }'
		;;
	bpftrace) awk -F ': ' '/^]: [0-9]+$/ { n += $2 } END { print 0, n + 0, n + 0 }' "$f.out" ;;
	ftrace*)
		# With its stack, an event has two entries.
		wc -c <"$f.raw" |
			awk -v read="$(cat "$f.read")" -v lost="$(cat "$f.lost")" -v n="$2" \
				-v entries="$([ "$1" = ftrace ] && echo 2 || echo 1)" \
				'{ print $1, read / entries, n * read / (read + lost) }'
		;;
	esac
}

# ---- one workload -------------------------------------------------------------------------------

# Runs $command on each of $cpus and writes the summed lines "events N" and "cpu_ns N" to
# $work/load.
run_workload()
{
	pids=
	for cpu in $(echo "$cpus" | tr , ' '); do
		eval "$command" >"$work/load.$cpu" </dev/null &
		pids="$pids $!"
	done
	for pid in $pids; do
		wait "$pid" || exit 1
	done
	cat "$work"/load.* | awk -v counted="$counted" '{ sum[$1] += $2 } END {
		printf "events %.0f\ncpu_ns %.0f\n", counted ? counted : sum["events"],
			sum["cpu_ns"]
	}' >"$work/load"
	ns_per_event "$work/load"
}

# If the workload does not know its number of events, ftrace counts those of its processes.
count_events()
{
	counted=
	case $event in
	*'*'*) start_ftrace "$event" event-fork || exit 1 ;;
	*) return ;;
	esac
	echo 0 >"$instance/tracing_on"
	echo >"$instance/trace"
	sh -c "echo \$\$ >$instance/set_event_pid; echo 1 >$instance/tracing_on
		cpu=$cpus; $command" >/dev/null || exit 1
	counted=$(ftrace_stat entries overrun 'dropped events')
	rmdir "$instance"
	instance=
}

# add_account TOOL: adds a line to TOOL.account: events lost, events without their fields, and sums
# that are wrong.  Edge losses are those of the moments when a recording begins or ends.
add_account()
{
	account=$("$stackonce" info --json "$work/$1.stk" | jq -r '[
		.totals.lost - .totals.lost_by.edge,
		([.events[].fields_missing] | add),
		([.events[] | select(.happened != .recorded + .filtered + .lost)] | length) +
			if .accounted and .events_in_file == .totals.recorded then 0 else 1 end
	] | join(" ")')
	echo "$account" >>"$work/$1.account"
}

# Runs one round of one tool: ns per event go to TOOL.ns, its own cost to TOOL.cpu and TOOL.peak,
# our own accounting to TOOL.account.
run_tool()
{
	[ ! -e "$work/$1.failed" ] || return 0
	rm -f "$work/$1.stk" "$work/$1.data"
	if ! start_tool "$1"; then
		end_child INT "$recorder"
		recorder=
		grep -v '^$' "$work/$1.err" | tail -n 1 | sed 's/^ *//' >"$work/$1.failed"
		echo >>"$work/$1.account"
		[ -z "$instance" ] || rmdir "$instance"
		instance=
		return 0
	fi
	run_workload >>"$work/$1.ns"
	stop_tool "$1"
	echo "$(value "$work/$1.cost" cpu_ns) $(value "$work/load" events)" |
		awk '{ printf "%.1f\n", $1 / $2 }' >>"$work/$1.cpu"
	value "$work/$1.cost" peak_kb >>"$work/$1.peak"
	case $1 in stackonce*) add_account "$1" ;; esac
}

print_row()
{
	if [ -e "$work/$1.failed" ]; then
		printf '%-28s did not run: %s\n' "$(title "$1")" "$(cat "$work/$1.failed")"
		return
	fi
	total=$(value "$work/load" events)
	counts "$1" "$total" >"$work/$1.counts"
	ours=$(if [ -s "$work/stackonce.ns" ]; then median <"$work/stackonce.ns"; fi)
	awk -v title="$(title "$1")" -v base="$(median <"$work/base.ns")" \
		-v ns="$(median <"$work/$1.ns")" -v spread="$(spread <"$work/$1.ns")" \
		-v cpu="$(median <"$work/$1.cpu")" -v peak="$(median <"$work/$1.peak")" \
		-v ours="$ours" -v total="$total" \
		-v lost_as="$([ -n "$counted" ] && echo '~%.0f' || echo '%.2f') %%" '{
		lost = total > $3 ? 100 * (total - $3) / total : 0
		ratio = ours > base ? sprintf("%.2f", (ns - base) / (ours - base)) : "-"
		bytes = $1 ? sprintf("%.1f", $1 / $2) : "-"
		printf "%-28s %9.0f %7.0f %7s %9s %9s %12.0f %9.1f\n", title, ns - base,
			spread, ratio, sprintf(lost_as, lost), bytes, cpu, peak / 1024
	}' "$work/$1.counts"
}

# added TOOL: ns per event added by the tool; nothing if it did not run.
added()
{
	[ ! -s "$work/$1.ns" ] ||
		echo "$(median <"$work/$1.ns") $(median <"$work/base.ns")" |
			awk '{ printf "%.0f\n", $1 - $2 }'
}

# cost TOOL: "NS SPREAD" of its row; nothing if it did not run.
cost()
{
	[ ! -s "$work/$1.ns" ] || echo "$(added "$1") $(spread <"$work/$1.ns")"
}

# stack_alone TOOL: the differences to stackonce without stacks.
stack_alone()
{
	differences "$work/$1.ns" "$work/stackonce-no-stacks.ns"
}

print_stack_alone()
{
	stack_alone "$2" >"$work/alone"
	[ ! -s "$work/alone" ] ||
		printf '%-28s %9.0f %7.0f\n' "$1" "$(median <"$work/alone")" \
			"$(spread <"$work/alone")"
}

# accounts COLUMN: the sum over all rounds of stackonce's rows; nothing if a round has no account.
accounts()
{
	cat "$work"/stackonce*.account |
		awk -v n="$1" 'NF != 3 { bad = 1 } { sum += $n } END { if (!bad) print sum }'
}

promise_accounts()
{
	promise 'events lost' "$(accounts 1)" 0
	promise 'sums other than happened = recorded + filtered + lost' "$(accounts 3)" 0
	# The other workloads have events whose records the kernel fills: an event that interrupts
	# such a program has no fields.
	[ -z "$counted" ] || return 0
	promise 'events without their fields' "$(accounts 2)" 0
	promise 'events of the workload not in the result' "$(
		cat "$work"/stackonce*.counts 2>/dev/null |
			awk -v total="$(value "$work/load" events)" \
				'$3 < total { n += total - $3 } END { if (NR) print n + 0 }'
	)" 0
}

promise_costs()
{
	promise "added ns, of bpftrace's" "$(echo "$(added stackonce) $(added bpftrace)" |
		awk 'NF == 2 { printf "%.2f\n", $1 / $2 }')" 0.18 0.1
	promise 'added ns without stacks; bound: what ftrace adds without' \
		"$(added stackonce-no-stacks)" "$(added ftrace-no-stacks)" 150
	promise 'the stack alone, ns' "$(stack_alone stackonce | median)" 40
}

# run_round TOOL...: no run pays for what an earlier one has written.
run_round()
{
	sync
	run_workload >>"$work/base.ns"
	for t; do
		sync
		run_tool "$t"
	done
}

# One stack on two CPUs: both would wait for a line or a lock that they share.  But CPUs that share
# a core slow the workload itself.
compare_cpus()
{
	slower=$(echo "$(median <"$work/base.ns") $alone" |
		awk '{ printf "%.3f\n", ($1 > $2) ? $1 / $2 : 1 }')
	echo "on two CPUs, the workload takes $slower times as long without a tool;" \
		"the tool's time there is divided by that"
	promise_two_cpus "$(cost stackonce | awk -v by="$slower" '{ print $1 / by, $2 / by }')" \
		"$one_cpu"
}

bench_workload()
{
	for old in "$work"/*; do
		rm -rf "$old"
	done
	count_events
	[ "$rounds" -lt "$repeats" ] || rounds=$repeats
	for _ in $(seq 1 "$rounds"); do
		# shellcheck disable=SC2086 # words
		run_round $tools
	done
	# What a stack costs is little, compared with what runs vary.
	if [ -z "${BENCH_TOOLS:-}" ] && [ "$promised" != - ]; then
		for _ in $(seq 1 $((4 * rounds))); do
			run_round stackonce stackonce-no-stacks
		done
	fi
	printf '\n%s, %s: %.0f ns per event without a tool, +- %.0f; %d rounds\n' "$name" "$event" \
		"$(median <"$work/base.ns")" "$(spread <"$work/base.ns")" "$rounds"
	printf '%-28s %9s %7s %7s %9s %9s %12s %9s\n' tool '+ns/event' '+-' ratio lost B/event \
		'rec. ns/ev' 'peak MB'
	for t in $tools; do
		print_row "$t"
	done
	print_stack_alone 'the stack alone' stackonce
	print_stack_alone "  by the kernel's unwinder" stackonce-kernel
	case $tools in *stackonce*) promise_accounts ;; esac
	case $name in
	syscall)
		one_cpu=$(cost stackonce)
		alone=$(median <"$work/base.ns")
		;;
	two-cpus) [ -z "${one_cpu:-}" ] || compare_cpus ;;
	esac
	[ -n "${BENCH_TOOLS:-}" ] || [ "$promised" != costs ] || promise_costs
}

tracefs_mount
cat <<TEXT
+ns/event: median CPU time of the workload per event with the tool, less that without; +-: half of
the distance between the quartiles of the rounds; ratio: added ns relative to stackonce's; lost:
events of the workload that are not in the result, approximate (~) where ftrace counted them in
another run; rec. ns/ev, peak MB: CPU time and memory of the recorder; the stack alone: the
differences to 'without stacks' within a round.
TEXT
src=$(cd "$BENCH/../src" && pwd)
export BENCH prog measure work src
# Name; events; the programs of the workload; the CPUs it runs on in parallel; most rounds, as a
# tool takes half a minute to detach from hundreds of events; what of its costs is promised; the
# command on $cpu.
while read -r name event comm cpus rounds promised command <&3; do
	case " ${BENCH_WORKLOADS:-$name} " in
	*" $name "*) bench_workload ;;
	esac
done 3<<'TABLE'
switch   sched:sched_switch         pingpong  0   99 costs "$prog/pingpong" 60000 $cpu
syscall  raw_syscalls:sys_enter     getppid   0   99 costs "$prog/getppid" 250000 $cpu
two-cpus raw_syscalls:sys_enter     getppid   0,1 99 cpus  "$prog/getppid" 150000 $cpu
fault    exceptions:page_fault_user faults    0   99 -     "$prog/faults" 50000 $cpu
tcp      net:*                      pingpong  0   99 -     "$prog/pingpong" 15000 $cpu tcp
compile  sched:*,syscalls:*         cc|cc1|as 0   3  -     sh "$BENCH/compile.sh" $cpu
TABLE
if [ ! -e "$work/load" ]; then
	echo "bench: there is no workload '$BENCH_WORKLOADS'" >&2
	exit 1
fi
[ "$failures" -eq 0 ]
