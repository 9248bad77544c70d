#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where the time of an event goes: the recorder's programs cut off after each stage, see
# docs/event-path.md.  Each round measures every stage once, another one first, and the load alone.
#   BENCH_REPEATS    rounds (5)
#   BENCH_WORKLOADS  loads to run instead of all
#   BENCH_SETS       sets of stages to run instead of all, see bench/path.c
#   BENCH_DATA       a file to which the rounds are added; the table is made of all that it has, so
#                    a measurement can be taken in parts: with BENCH_REPEATS=0 it is only printed
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

repeats=${BENCH_REPEATS:-5}
data=${BENCH_DATA:-$work/data}

# print_table LOAD: medians over the rounds; what a stage costs is compared with the load alone in
# the same round.
print_table()
{
	awk -v load="$1" '
	function median(key, n,    i, j, t, v) {
		for (i = 1; i <= n; i++) {
			t = value[key, i]
			for (j = i; j > 1 && v[j - 1] > t; j--)
				v[j] = v[j - 1]
			v[j] = t
		}
		return n ? (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2 : 0
	}
	function add(key, x) { value[key, ++number[key]] = x }
	function end_round(    i, f) {
		for (i = 1; base != "" && i <= lines; i++) {
			split(line[i], f)
			if (!((f[2], f[3]) in seen)) {
				seen[f[2], f[3]] = 1
				row[++rows] = f[2] " " f[3]
			}
			add(f[2] " " f[3], f[4] - base)
			add(f[2] " " f[3] " walked", f[5])
			add(f[2] " " f[3] " lost", f[6])
			add(f[2] " " f[3] " run", f[7])
		}
		if (base != "")
			add("base", base)
		base = ""
		lines = 0
	}
	$1 == "round" { end_round() }
	$1 == load && $3 == "nothing" { base = $4 }
	$1 == load && $3 != "nothing" && NF == 7 { line[++lines] = $0 }
	END {
		end_round()
		n = number["base"]
		printf "\n%s: %.0f ns per event without programs; %d rounds\n", load,
			median("base", n), n
		printf "%-10s %-14s %9s %7s %7s %7s %7s %7s\n", "set", "stage", "+ns/event", "more",
			"run ns", "more", "walked", "lost"
		for (i = 1; i <= rows; i++) {
			split(row[i], f)
			n = number[row[i]]
			ns = median(row[i], n)
			run = median(row[i] " run", n)
			same = f[1] == set
			printf "%-10s %-14s %9.0f %7s %7.0f %7s %6.1f%% %6.1f%%\n", f[1], f[2], ns,
				same ? sprintf("%+.0f", ns - last) : "", run,
				same ? sprintf("%+.0f", run - last_run) : "",
				100 * median(row[i] " walked", n), 100 * median(row[i] " lost", n)
			last_run = run
			set = f[1]
			last = ns
		}
	}' "$data"
}

# alone LOAD EVENTS: ns of an event of the load, with whatever runs beside it.
alone()
{
	"$BUILD/bench/path" "$BUILD/bench" "$1" 1 3 "$2" none | awk '$3 == "nothing" { print $4 }' |
		median
}

# beside STAGE LOAD EVENTS EVENT OPTION...: adds the load beside the recorder itself.
beside()
{
	stage=$1 load=$2 events=$3 event=$4
	shift 4
	rm -f "$work/beside.stk"
	"$stackonce" record -q -a -e "$event" "$@" -o "$work/beside.stk" >/dev/null 2>&1 &
	recorder=$!
	wait_for 60 test -s "$work/beside.stk" || exit 1
	echo "$load itself $stage $(alone "$load" "$events") 0 0 0" >>"$data"
	end_child INT "$recorder"
	recorder=
}

cat <<TEXT
+ns/event: median CPU time of the load per event with the programs attached, less that without in
the same round; more: than the stage before; run ns: time that the programs ran per event
(kernel.bpf_stats_enabled, in a run of its own); walked, lost: shares of the events whose kernel
stack was walked, not remembered, and that the ring had no room for; itself: beside
'stackonce record' in place of the programs.
TEXT
# Load, events of a run, event type.
while read -r load events event <&3; do
	case " ${BENCH_WORKLOADS:-$load} " in
	*" $load "*) ;;
	*) continue ;;
	esac
	if [ "$repeats" -gt 0 ]; then
		# shellcheck disable=SC2086 # a list of sets
		"$BUILD/bench/path" "$BUILD/bench" "$load" 1 "$repeats" "$events" \
			${BENCH_SETS:-} >>"$data" || exit 1
		echo "round
$load - nothing $(alone "$load" "$events") 0 0 0" >>"$data"
		beside stacks "$load" "$events" "$event"
		beside no-stacks "$load" "$events" "$event" --no-kernel-stacks
	fi
	print_table "$load"
done 3<<'TABLE'
getppid     100000 raw_syscalls:sys_enter
pingpong    40000  sched:sched_switch
pingpong-40 40000  sched:sched_switch
faults      50000  exceptions:page_fault_user
TABLE
