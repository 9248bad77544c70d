#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU time per event and peak memory for reading about a million events with kernel stacks, compared
# with the readers of perf and trace-cmd on recordings of the same load.
# BENCH_REPEATS, BENCH_EVENTS: see lib_read.sh.
# shellcheck source=bench/lib_read.sh
. "$BENCH/lib_read.sh"

tracefs_mount
with_recorder "$measure" "$work/cost" "$stackonce" record -q -a -o "$work/t.stk" \
	-e sched:sched_switch -e raw_syscalls:sys_enter
# For latency, pairs of the same load: system calls, and runnable tasks that wait for a CPU.
with_recorder "$measure" "$work/cost" "$stackonce" record -q -a -o "$work/calls.stk" \
	-e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -e sched:sched_process_exit
with_recorder "$measure" "$work/cost" "$stackonce" record -q -a -o "$work/switches.stk" \
	-e sched:sched_switch -e sched:sched_wakeup -e sched:sched_wakeup_new
with_recorder "$measure" "$work/cost" perf record -q -a -g -m 16M -o "$work/perf.data" \
	-e sched:sched_switch -e raw_syscalls:sys_enter
with_recorder "$measure" "$work/cost" trace-cmd record -q -T -o "$work/trace.dat" \
	-e sched:sched_switch -e raw_syscalls:sys_enter

printf '\n%-36s %10s %10s %9s\n' 'reading' events 'CPU ns/ev' 'peak MB'
n=$("$stackonce" info --json "$work/t.stk" | jq .totals.recorded)
if [ "${n:-0}" -gt 0 ]; then
	cost 'stackonce info' "$n" "$stackonce" info "$work/t.stk"
	# Counts are to take at most 10 ns per event.
	cost 'stackonce report' "$n" "$stackonce" report "$work/t.stk"
	cost 'stackonce report --by pid,cpu' "$n" "$stackonce" report --by pid,cpu "$work/t.stk"
	# At most 150 ns per event.
	cost 'stackonce report --by --weigh' "$n" "$stackonce" report --by event,prev_comm \
		--weigh prev_pid "$work/t.stk"
	cost 'stackonce stacks' "$n" "$stackonce" stacks "$work/t.stk"
	cost 'stackonce script' "$n" "$stackonce" script "$work/t.stk"
	cost 'stackonce script --json' "$n" "$stackonce" script --json "$work/t.stk"
	# A filter that selects 1 % of the events is to take at most 150 ns per event.
	cost 'stackonce script --filter: 1 %' "$n" "$stackonce" script --no-stacks \
		--filter 'common_pid >= 0 && !(event.time & 127)' "$work/t.stk"
	cost 'stackonce report --filter, stacks: 1 %' "$n" "$stackonce" report \
		--filter 'kstack != "nosuch" && !(event.time & 127)' "$work/t.stk"
	# What is left out is to cost little: all of it, and all but 1 % of the time.
	cost 'stackonce script --tid, none' "$n" "$stackonce" script --tid 4194304 "$work/t.stk"
	cost 'stackonce script --time, 1 %' "$n" "$stackonce" script --time 50%,51% "$work/t.stk"
fi
# latency is to take at most 250 ns per event.
for preset in calls:syscalls switches:runqueue; do
	file=$work/${preset%:*}.stk
	n=$("$stackonce" info --json "$file" | jq .totals.recorded)
	[ "${n:-0}" -gt 0 ] || continue
	cost "stackonce latency --preset ${preset#*:}" "$n" "$stackonce" latency \
		--preset "${preset#*:}" "$file"
done
# SQL: a scan 90 ns, groups of a number 90 and of a text 110, sorted by SQLite 350 and 450.
# query TITLE SQL: also prints what SQLite used.
query()
{
	cost "sql: $1" "$n" "$stackonce" sql -v "$work/t.stk" "$2"
	sed -n 's/^stackonce: SQLite used at most/    SQLite:/p' "$work/err"
}
n=$("$stackonce" info --json "$work/t.stk" | jq .totals.recorded)
if [ "${n:-0}" -gt 0 ]; then
	query 'count' 'SELECT count(*) FROM events'
	query 'sum of a field' 'SELECT sum(id) FROM "raw_syscalls:sys_enter"'
	query 'groups of a number' 'SELECT _kstack, count(*) FROM events GROUP BY 1'
	query 'groups of a text' 'SELECT _comm, count(*) FROM events GROUP BY 1'
	query 'groups of a number, sorted' 'SELECT _kstack, max(_ts) FROM events GROUP BY 1'
	query 'groups of a text, sorted' 'SELECT _comm, max(_ts) FROM events GROUP BY 1'
	query 'tuples' 'SELECT _kstack, sum(n) FROM tuples GROUP BY 1'
	cost 'sql --save (an import)' "$n" sh -c 'rm -f "$3"; exec "$1" sql --save "$3" "$2"' \
		sh "$stackonce" "$work/t.stk" "$work/t.sqlite"
	if command -v sqlite3 >/dev/null; then
		cost 'SQLite on that: groups of a text' "$n" sqlite3 "$work/t.sqlite" \
			'SELECT _comm, count(*) FROM events GROUP BY 1'
	fi
	printf '    recording %s bytes, import %s bytes\n' "$(stat -c %s "$work/t.stk")" \
		"$(stat -c %s "$work/t.sqlite")"
fi
n=$(perf script -i "$work/perf.data" -F comm -G 2>/dev/null | grep -c .)
if [ "$n" -gt 0 ]; then
	cost 'perf script' "$n" perf script -i "$work/perf.data"
	cost 'perf report --stdio' "$n" perf report --stdio -i "$work/perf.data"
	cost 'perf report --stdio --no-children' "$n" perf report --stdio --no-children \
		-i "$work/perf.data"
fi
n=$(trace-cmd report -i "$work/trace.dat" 2>/dev/null | grep -c '\[00')
if [ "$n" -gt 0 ]; then
	cost 'trace-cmd report' "$n" trace-cmd report -i "$work/trace.dat"
else
	printf '%-36s did not record here: %s\n' 'trace-cmd report' \
		"$(grep -v '^$' "$work/record.err" | tail -n 1)"
fi
[ "$failures" -eq 0 ]
