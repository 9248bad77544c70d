#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# User stacks of a chain of twenty functions, built without and with frame pointers: their cost for
# the recorded, losses and right frames, compared with other tools; the walk alone; and memory and
# time for unwind tables.  The last lines check the promises.
#   BENCH_REPEATS  rounds (5)    BENCH_TOOLS  the tools to run instead of all
#   BENCH_EVENTS   events per run (200000); ten times as many at full rate
#   BENCH_FIELDS   record --fields, instead of what record does by default
#   BENCH_PARTS    of cost, full, kinds, walk and tables, those to run instead of all
#   BENCH_OLD      another stackonce to compare with, in the row of 1,000 stacks
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

repeats=${BENCH_REPEATS:-5}
events=${BENCH_EVENTS:-200000}
tools=${BENCH_TOOLS:-'stackonce-none stackonce-kernel stackonce-user stackonce-both perf-fp
	perf-dwarf perf-dwarf-ring bpftrace trace-cmd ftrace'}
fields=${BENCH_FIELDS:+--fields $BENCH_FIELDS}
parts=${BENCH_PARTS:-cost full kinds walk tables}
event=syscalls:sys_enter_futex
ring=$(nproc | awk '{ print int($1 < 16 ? 256 / $1 : 16) "M" }')

title()
{
	case $1 in
	stackonce-none) echo 'stackonce, no stacks' ;;
	stackonce-kernel) echo '  kernel stacks' ;;
	stackonce-user) echo '  user stacks' ;;
	stackonce-both) echo '  user and kernel stacks' ;;
	perf-fp) echo 'perf record -g' ;;
	perf-dwarf) echo 'perf --call-graph dwarf' ;;
	perf-dwarf-ring) echo "  with rings of $ring" ;;
	bpftrace) echo 'bpftrace @[ustack]=count()' ;;
	trace-cmd) echo 'trace-cmd userstacktrace' ;;
	ftrace) echo 'ftrace userstacktrace, raw' ;;
	esac
}

# events_of TOOL EVENTS: fewer for tools that copy stacks, which takes time and disk space.
events_of()
{
	case $1 in
	perf-dwarf*) echo $(($2 / 10)) ;;
	*) echo "$2" ;;
	esac
}

# ---- one tool -----------------------------------------------------------------------------------

# without TOOL: options for the stacks that it does not record.
without()
{
	case $1 in *-none | *-user) echo --no-kernel-stacks ;; esac
	case $1 in *-none | *-kernel) echo --no-user-stacks ;; esac
}

# record_with TOOL OUT COMMAND...: runs COMMAND under the tool.
record_with()
{
	tool=$1
	out=$2
	shift 2
	case $tool in
	base) "$@" ;;
	stackonce-* | old-*)
		case $tool in old-*) program=$BENCH_OLD ;; *) program=$stackonce ;; esac
		# shellcheck disable=SC2046,SC2086 # options
		"$program" record -q $fields $(without "$tool") -e "$event" -o "$out.stk" -- "$@"
		;;
	perf-fp) perf record -q -g -e "$event" -o "$out.data" -- "$@" ;;
	perf-dwarf) perf record -q --call-graph dwarf -e "$event" -o "$out.data" -- "$@" ;;
	perf-dwarf-ring)
		perf record -q --call-graph dwarf -m "$ring" -e "$event" -o "$out.data" -- "$@"
		;;
	bpftrace)
		bpftrace -e "tracepoint:$event { @[ustack(perf)] = count(); }" -c "$*" \
			-o "$out.text"
		;;
	trace-cmd)
		# keeps its settings in an instance
		trace-cmd record -q -B stackonce-bench -O userstacktrace -e "$event" \
			-o "$out.dat" "$@"
		;;
	ftrace)
		start_ftrace "$event" userstacktrace
		echo 'comm ~ "chain_*"' >"$event_dir/filter"
		"$@"
		echo 0 >"$instance/tracing_on"
		[ -z "$want_frames" ] || cat "$instance/trace" >"$out.text"
		end_ftrace "$out"
		;;
	esac >"$out.out" 2>"$out.err" </dev/null
}

# run_tool TOOL COMMAND...: writes $work/TOOL.*; a tool that fails is not run again.
run_tool()
{
	name=$1
	shift
	[ ! -e "$work/$name.failed" ] || return 1
	rm -f "$work/$name".nofp* "$work/$name".fp* "$work/$name".stk*
	rc=0
	record_with "$name" "$work/$name" "$@" || rc=$?
	[ ! -d "$tracefs/instances/stackonce-bench" ] || rmdir "$tracefs/instances/stackonce-bench"
	[ "$rc" -ne 0 ] || return 0
	grep -v '^$' "$work/$name.err" | tail -n 1 | sed 's/^ *//' >"$work/$name.failed"
	return 1
}

# seen TOOL COMM: the number of events of that program in the tool's output.
seen()
{
	f=$work/$1
	case $1 in
	stackonce*) "$stackonce" script --json --fields comm "$f.stk" | grep -c "\"$2\"" ;;
	perf*) perf script -i "$f.data" -F comm -G 2>/dev/null | grep -c "^ *$2" ;;
	trace-cmd)
		trace-cmd report -i "$f.dat" 2>/dev/null | grep "$2-[0-9]" |
			grep -vc 'stack trace'
		;;
	bpftrace)
		for l in "$f.${2#chain_}"*; do
			stacks bpftrace | judge bpftrace "$l"
		done | awk '{ n += $1 } END { print n }'
		;;
	ftrace)
		# Each event has two entries, itself and its stack; both programs have as many.
		echo "$(cat "$f.read") $(cat "$f.lost") $(value "$f.nofp" events)" |
			awk '{ printf "%.0f\n", $3 * $1 / ($1 + $2) }'
		;;
	esac
}

bytes()
{
	case $1 in
	bpftrace) echo 0 ;;
	*) cat "$work/$1.stk" "$work/$1.data" "$work/$1.dat" "$work/$1.raw" 2>/dev/null | wc -c ;;
	esac
}

# ---- frames -------------------------------------------------------------------------------------

# stacks TOOL [COMM]: prints "COUNT FRAME...", innermost first; a frame is an address or
# FILE:OFFSET.
stacks()
{
	f=$work/$1
	case $1 in
	stackonce*)
		"$stackonce" stacks --json --user --comm "$2" "$f.stk" |
			jq -r '"\(.refs) " + ([.frames[] | "\(.path):\(.ip)"] | join(" "))'
		;;
	perf*)
		perf script -i "$f.data" --comm "$2" -F ip,dso --no-inline 2>/dev/null |
			awk -v RS= '{
				printf "1"
				for (i = 1; i < NF; i += 2)
					if ($i !~ /^ffff/)
						printf " %s:0x%s", substr($(i + 1), 2,
							length($(i + 1)) - 2), $i
				print ""
			}'
		;;
	bpftrace)
		awk '
			/^@\[/ { stack = ""; next }
			/^]: / { print $2 stack; next }
			{ stack = stack " 0x" $1 }' "$f.text"
		;;
	trace-cmd | ftrace)
		if [ "$1" = ftrace ]; then
			cat "$f.text"
		else
			trace-cmd report -i "$f.dat" 2>/dev/null
		fi | awk -v comm="$2-" '
			function flush()
			{
				if (stack)
					print 1 stack
				stack = ""
			}
			/-[0-9]+ +\[[0-9]+\]/ {
				flush()
				ours = index($0, comm) && /stack trace/
				next
			}
			ours && /=> / {
				gsub(/[<>()]/, "")
				sub(/^0*/, "", $2)
				stack = stack " 0x" $2
			}
			END { flush() }'
		;;
	esac
}

# judge TOOL LOAD: reads such lines and prints "STACKS RIGHT CALLER": stacks of the load; per cent
# of right frames, of all in the chain or in the stack, whichever has more; per cent of stacks with
# the caller of libc.
judge()
{
	awk -v CONVFMT=%.0f -v perf="$(case $1 in perf*) echo 1 ;; esac)" '
		function number(hex,  i, n) {
			n = 0
			for (i = 3; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		# position in the chain, 0 if none; perf subtracts 1 from return addresses
		function place(frame,  at, file, n) {
			at = match(frame, /:0x[0-9a-f]*$/)
			file = at ? substr(frame, 1, at) : ""
			n = number(substr(frame, at + 1))
			if ((file n) in chain)
				return chain[file n]
			return perf && (file (n + 1)) in chain ? chain[file (n + 1)] : 0
		}
		NR == FNR {
			if ($1 == "frame")
				chain[number("0x" $2)] = chain[$4 ":" number($3)] = ++depth
			next
		}
		place($2) == 1 {
			found = last = caller = 0
			for (i = 2; i <= NF; i++) {
				p = place($i)
				if (p > last) {
					found++
					last = p
				}
				if (p == 2)
					caller = 1
			}
			stacks += $1
			right += $1 * found / (NF - 1 > depth ? NF - 1 : depth)
			callers += $1 * caller
		}
		END {
			print stacks + 0, stacks ? 100 * right / stacks : 0,
				stacks ? 100 * callers / stacks : 0
		}
	' "$2" -
}

# ---- cost and frames ----------------------------------------------------------------------------

# added TOOL LOAD: ns per event added by the tool.
added()
{
	echo "$(median <"$work/$1.ns.$2") $(median <"$work/base.ns.$2")" |
		awk '{ printf "%.0f\n", $1 - $2 }'
}

note_ns()
{
	for p in nofp fp; do
		ns_per_event "$work/$1.$p" >>"$work/$1.ns.$p"
	done
}

# Evaluates the last round: TOOL.seen.LOAD, TOOL.bytes, and frames in TOOL.right.LOAD.  Whether
# perf's unwinder finds a library's tables depends on the layout of the address space: it has five
# tries.
look_at()
{
	[ ! -e "$work/$1.failed" ] || return
	for p in nofp fp; do
		echo "$(value "$work/$1.$p" events) $(seen "$1" "chain_$p")" >"$work/$1.seen.$p"
	done
	bytes "$1" >"$work/$1.bytes"
	want_frames=1
	for _ in $(case $1 in perf-dwarf*) seq 1 5 ;; *) echo 1 ;; esac); do
		run_tool "$1" /bin/sh "$work/load" 1000 "$work/$1" || return
		for p in nofp fp; do
			stacks "$1" "chain_$p" | judge "$1" "$work/$1.$p" >>"$work/$1.right.$p"
		done
	done
	want_frames=
	rm -f "$work/$1.stk" "$work/$1.data" "$work/$1.dat" "$work/$1.raw"
}

print_tool()
{
	if [ -e "$work/$1.failed" ]; then
		printf '%-27s did not run: %s\n' "$(title "$1")" "$(cat "$work/$1.failed")"
		return
	fi
	printf '%-27s' "$(title "$1")"
	for p in nofp fp; do
		awk -v added="$(added "$1" $p)" '
			NR == 1 { lost = $1 > $2 ? 100 * ($1 - $2) / $1 : 0; next }
			$2 > right { right = $2; callers = $3 }
			END {
				printf " %6.0f %6.2f%%", added, lost
				if (right)
					printf " %5.1f%% %5.1f%%", right, callers
				else
					printf " %6s %6s", "-", "-"
			}' "$work/$1.seen.$p" "$work/$1.right.$p"
	done
	awk '{ seen += $2 } FILENAME ~ /bytes$/ { bytes = $1 }
		END { printf " %8s\n", bytes ? sprintf("%.1f", bytes / seen) : "-" }' \
		"$work/$1.seen.nofp" "$work/$1.seen.fp" "$work/$1.bytes"
}

bench_cost()
{
	for _ in $(seq 1 "$repeats"); do
		for t in base $tools; do
			run_tool "$t" /bin/sh "$work/load" "$(events_of "$t" "$events")" \
				"$work/$t" && note_ns "$t"
		done
	done
	for t in $tools; do
		look_at "$t"
	done
	printf '\n%s at the end of twenty functions: %.0f ns per event without a tool\n' "$event" \
		"$(median <"$work/base.ns.nofp")"
	printf '%-27s %-28s %s\n' '' 'without frame pointers' 'with frame pointers'
	printf '%-27s' tool
	printf ' %6s %7s %6s %6s' '+ns' lost right caller '+ns' lost right caller
	printf ' %8s\n' B/event
	for t in $tools; do
		print_tool "$t"
	done
}

# ---- full rate ----------------------------------------------------------------------------------

# print_full TOOL: prints its row; lost events go to TOOL.full.CPUS.
print_full()
{
	if [ -e "$work/$1.failed" ]; then
		return
	fi
	cat "$work/$1".nofp* | awk -v title="$(title "$1")" -v seen="$(seen "$1" chain_nofp)" \
		-v bytes="$(bytes "$1")" -v out="$work/$1.full.$cpus" '
		$1 == "events" { made += $2 }
		END {
			lost = made > seen ? made - seen : 0
			printf "%-27s %10d %10d %8.2f%% %14s %9s\n", title, made, lost,
				100 * lost / made, bytes ? bytes : "-",
				bytes && seen ? sprintf("%.1f", bytes / seen) : "-"
			print lost >out
		}'
}

# bench_full CPUS TOOL...: runs one program per CPU.
bench_full()
{
	cpus=$1
	shift
	printf '\nAt full rate, on %s\n' \
		"$([ "$cpus" -eq 1 ] && echo 'one CPU' || echo "$cpus CPUs in parallel")"
	printf '%-27s %10s %10s %9s %14s %9s\n' tool events lost '' bytes B/event
	for t; do
		case " $(echo "$tools" | tr -s '\n\t' '  ') " in *" $t "*) ;; *) continue ;; esac
		run_tool "$t" /bin/sh "$work/full" "$(events_of "$t" $((events * 10)))" \
			"$work/$t" "$cpus" || continue
		print_full "$t"
		rm -f "$work/$t".stk* "$work/$t.data" "$work/$t.dat"
	done
}

# ---- kinds of stacks ----------------------------------------------------------------------------

kinds='stackonce-none stackonce-user stackonce-kernel stackonce-both'

# bench_kind WHAT MODE [WAYS [TOOL...]]: TOOLs run, too, but are not in the row.
bench_kind()
{
	what=$1
	mode=$2
	ways=${3:-0}
	beside=$(shift "$(($# < 3 ? $# : 3))" && echo "$*")
	for _ in $(seq 1 "$repeats"); do
		for t in base $kinds $beside; do
			run_tool "$t" /bin/sh "$work/one" "$mode" "$events" "$work/$t" "$ways" ||
				return
			ns_per_event "$work/$t.nofp" >>"$work/$t.ns.$mode$ways"
		done
	done
	"$stackonce" info --json "$work/stackonce-user.stk" >"$work/kind"
	printf '%-36s' "$what"
	printf ' %7.0f' "$(median <"$work/base.ns.$mode$ways")"
	for t in $kinds; do
		printf ' %7.0f' "$(added "$t" "$mode$ways")"
	done
	printf ' %8d %9.1f\n' "$(jq .stacks.unique "$work/kind")" \
		"$(jq '.bytes / .totals.recorded' "$work/kind")"
	rm -f "$work"/*.stk*
}

bench_kinds()
{
	printf '\nstackonce by kind of stacks: ns per event without it, and added ns\n'
	printf '%-36s' ''
	printf ' %7s' without +none +user +kernel +both
	printf ' %8s %9s\n' stacks B/event
	bench_kind 'one stack, without leaving it' loop
	bench_kind 'one stack, called again for each event' climb
	bench_kind 'one of 1000, 25 to 64 frames' climb 1000 \
		${BENCH_OLD:+old-none old-user}
	bench_kind 'one of a billion, none occurs twice' climb 1000000000
	event=sched:sched_switch
	bench_kind 'switches between two threads' switch
}

# ---- the walk alone ----------------------------------------------------------------------------

bench_walk()
{
	printf '\nThe walk alone, in a program that is not attached\n'
	taskset -c 0 "$prog/user_walk"
}

# ---- tables -------------------------------------------------------------------------------------

# start COMMAND...: runs it in the background until the end; fails if the command does not exist.
start()
{
	command -v "$1" >/dev/null 2>&1 || return 1
	"$@" >/dev/null 2>&1 </dev/null &
	started="$started $!"
}

# compile COMMAND...: starts a compiler that waits for its source.
compile()
{
	command -v "$1" >/dev/null 2>&1 || return 1
	[ -p "$work/source" ] || mkfifo "$work/source"
	"$@" -x c++ -O2 -c -o /dev/null - >/dev/null 2>&1 <"$work/source" &
	started="$started $!"
}

# Starts the programs of a desktop that are installed; sets $desktop to their names.
start_desktop()
{
	desktop=
	start node -e 'setInterval(() => 0, 1000000)' && desktop="$desktop, node"
	start /usr/bin/python3 \
		-c 'import asyncio, ctypes, decimal, sqlite3, ssl, time; time.sleep(1000)' &&
		desktop="$desktop, python3"
	if start chromium --headless=new --no-sandbox --disable-gpu \
		--user-data-dir="$work/chromium" about:blank; then
		desktop="$desktop, chromium"
	elif start firefox-esr --headless --profile "$work" about:blank; then
		desktop="$desktop, firefox"
	else
		echo "neither chromium nor firefox-esr is installed:" \
			"clang, with LLVM, takes its place"
	fi
	compile g++ && desktop="$desktop, g++"
	compile clang-14 && desktop="$desktop, clang"
	desktop=${desktop#, }
	exec 9>"$work/source" # the compilers have started and wait for more
	sleep 5
}

stop_desktop()
{
	exec 9>&-
	# shellcheck disable=SC2086 # numbers
	end_child TERM $started
	started=
}

# cfi_of_all: the .eh_frame of all files that processes map executable, by readelf: FILES BYTES.
cfi_of_all()
{
	cat /proc/[0-9]*/maps 2>/dev/null |
		awk '$2 ~ /x/ && $6 ~ /^\// && !seen[$4 $5]++ { print $6 }' |
		while read -r path; do
			readelf -SW "$path" 2>/dev/null | sed -n \
				's/.*\] \.eh_frame  *[A-Z_0-9]*  *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/0x\1/p'
		done | {
			n=0
			sum=0
			while read -r size; do
				n=$((n + 1))
				sum=$((sum + size))
			done
			echo "$n $sum"
		}
}

bench_tables()
{
	printf '\nUnwind tables of all processes\n'
	start_desktop
	"$stackonce" record -q -a --user-stacks -e sched:sched_switch -o "$work/tables.stk" \
		2>"$work/err" 9>&- &
	recorder=$!
	sleep 4
	cfi_of_all >"$work/cfi"
	rss=$(awk '/^VmHWM:/ { print $2 }' "/proc/$recorder/status")
	shared=$(awk '/^[0-9a-f]+-[0-9a-f]+ / { ours = /bpf-map/ } /^Rss:/ && ours { n += $2 }
		END { print n + 0 }' "/proc/$recorder/smaps")
	kill -INT "$recorder"
	wait "$recorder" || cat "$work/err"
	recorder=
	stop_desktop
	"$stackonce" info --json "$work/tables.stk" | jq .user_stacks >"$work/tables"
	numbers=$(jq -r '"\(.tables_loaded) \(.table_bytes) \(.cfi_bytes) \(.load_ns)"' \
		"$work/tables")
	echo "$numbers $(
		cat "$work/cfi") $rss $shared" |
		awk -v what="$desktop, and $(ps -e | wc -l) processes" '{
		printf "%s\n", what
		printf "tables     %4d files, %6.2f MB\n", $1, $2 / 1e6
		printf ".eh_frame  %4d files, %6.2f MB by readelf; %.2f MB by the recorder\n",
			$5, $6 / 1e6, $3 / 1e6
		printf "loaded in  %.0f ms\n", $4 / 1e6
		printf "recorder   %.1f MiB at most, of which mapped BPF maps %.1f\n",
			$7 / 1024, $8 / 1024
	}'
}

# ---- promises -----------------------------------------------------------------------------------

# user_stack WHOSE: ns that one of 1,000 stacks adds to an event
user_stack()
{
	differences "$work/$1-user.ns.climb1000" "$work/$1-none.ns.climb1000" | median
}

promises()
{
	printf '\n'
	if [ -e "$work/stackonce-user.bytes" ]; then
		for p in nofp fp; do
			promise "added ns per event, user stack, chain_$p" \
				"$(added stackonce-user $p)" 1000 400
			promise "frames not right in 100 stacks, chain_$p" \
				"$(awk '{ print 100 - $2 }' "$work/stackonce-user.right.$p")" 0
			promise "callers of libc missing in 100 stacks, chain_$p" \
				"$(awk '{ print 100 - $3 }' "$work/stackonce-user.right.$p")" 0
		done
		promise 'bytes per event, user stack' "$(
			cat "$work/stackonce-user.seen.nofp" "$work/stackonce-user.seen.fp" |
				awk -v bytes="$(cat "$work/stackonce-user.bytes")" \
					'{ n += $2 } END { printf "%.1f\n", bytes / n }'
		)" 16 8
	fi
	if [ -s "$work/stackonce-both.ns.nofp" ] && [ -s "$work/bpftrace.ns.nofp" ]; then
		promise 'both stacks, of what bpftrace adds' \
			"$(echo "$(added stackonce-both nofp) $(added bpftrace nofp)" |
				awk '{ printf "%.2f\n", $1 / $2 }')" 0.35 0.2
	fi
	for t in stackonce-user stackonce-both; do
		[ ! -e "$work/$t.full.1" ] ||
			promise "lost at full rate,$(title $t)" "$(cat "$work/$t.full.1")" 0
	done
	if run kinds && [ -n "${BENCH_OLD:-}" ]; then
		promise "one of 1000 stacks, ns over the event; bound: half of the other's" \
			"$(user_stack stackonce)" \
			"$(user_stack old | awk '{ printf "%.0f\n", $1 / 2 }')"
	elif run kinds; then
		# half of what such a stack took at first (c1abed93) on an idle machine
		promise 'one of 1000 stacks, ns over the event' "$(user_stack stackonce)" 1725
	fi
	if [ -s "$work/tables" ]; then
		promise 'tables, of their .eh_frame' \
			"$(jq '.table_bytes / .cfi_bytes * 100 | round / 100' "$work/tables")" 0.8
		promise 'loading them, ms' "$(jq '.load_ns / 1e6 | round' "$work/tables")" 2000
	fi
}

# run PART: whether it is wanted.
run()
{
	case " $parts " in *" $1 "*) ;; *) return 1 ;; esac
}

# The commands for the tools: both programs; one program in a given mode; one program on each CPU.
cat >"$work/load" <<'TEXT'
for p in nofp fp; do
	taskset -c 0 "$BUILD/bench/chain_$p" loop "$1" 0 >"$2.$p"
done
TEXT
cat >"$work/one" <<'TEXT'
"$BUILD/bench/chain_nofp" "$1" "$2" 0 "$4" >"$3.nofp"
TEXT
cat >"$work/full" <<'TEXT'
for cpu in $(seq 0 $(($3 - 1))); do
	"$BUILD/bench/chain_nofp" loop "$1" "$cpu" >"$2.nofp$cpu" &
done
wait
TEXT

tracefs_mount
cat <<TEXT
+ns: median CPU time of the program per event with the tool, less that without; lost: events that
are not in the result; right: right frames, of all in the chain; caller: that of libc's syscall();
for perf's unwinder the best of five runs.  Medians of $repeats rounds of $events events,
$(events_of perf-dwarf "$events") with dwarf.
TEXT
run cost && bench_cost
if run full; then
	bench_full 1 stackonce-user stackonce-both perf-fp perf-dwarf bpftrace trace-cmd
	bench_full "$(nproc | awk '{ print $1 < 4 ? $1 : 4 }')" stackonce-user stackonce-both \
		perf-fp
fi
run kinds && bench_kinds
run walk && bench_walk
run tables && bench_tables
promises
[ "$failures" -eq 0 ]
