# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # the benches use our variables
# Shared by the benches that read what they have recorded.
#   BENCH_REPEATS  runs of each command (3)    BENCH_EVENTS  events to record (1000000)
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

repeats=${BENCH_REPEATS:-3}
events=${BENCH_EVENTS:-1000000}

load()
{
	"$prog/pingpong" $((events / 4)) 0 >/dev/null
	"$prog/getppid" $((events / 2)) 0 >/dev/null
}

# cost TITLE EVENTS COMMAND...: prints a row; $ns: CPU time per event, empty if it failed.  That a
# perf was built without what it is asked for is no failure.
cost()
{
	title=$1
	n=$2
	ns=
	shift 2
	: >"$work/cpu"
	: >"$work/peak"
	for _ in $(seq 1 "$repeats"); do
		"$measure" "$work/cost" "$@" >/dev/null 2>"$work/err" </dev/null || {
			why=$(grep -m 1 -i -E 'not compiled in|no conversion support' "$work/err")
			[ -z "$why" ] || {
				printf '%-36s n/a: %s\n' "$title" "$why"
				return
			}
			printf '%-36s failed: %s\n' "$title" "$(tail -n 1 "$work/err")"
			failures=$((failures + 1))
			return
		}
		value "$work/cost" cpu_ns >>"$work/cpu"
		value "$work/cost" peak_kb >>"$work/peak"
	done
	ns=$(($(median <"$work/cpu" | cut -d. -f1) / n))
	printf '%-36s %10s %10.0f %9.1f\n' "$title" "$n" "$ns" \
		"$(median <"$work/peak" | awk '{ print $1 / 1024 }')"
}

# is_recording FILE: stackonce and perf have made it, trace-cmd a file for each CPU
is_recording()
{
	[ -e "$1" ] || [ -e "$1.cpu0" ]
}

# with_recorder COMMAND... -o FILE ...: runs the load while COMMAND records, which on a busy machine
# takes long to begin.
with_recorder()
{
	word=
	for next; do
		[ "$word" != -o ] || output=$next
		word=$next
	done
	"$@" >"$work/out" 2>"$work/record.err" </dev/null &
	recorder=$!
	sleep 3
	tries=0
	until is_recording "$output" || ! is_child "$recorder" || [ "$tries" -ge 300 ]; do
		tries=$((tries + 1))
		sleep 0.2
	done
	is_child "$recorder" && load
	end_child INT "$recorder"
	recorder=
}
