#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU time per event, peak memory and size of all exports of about a million events with kernel
# stacks, compared with what perf makes of the same load.  Fails unless all bounds hold.
# BENCH_REPEATS, BENCH_EVENTS: see lib_read.sh.
# shellcheck source=bench/lib_read.sh
. "$BENCH/lib_read.sh"

# export_row FORMAT OPTIONS...: a row, which is to take at most 1 us, and the size of the output.
export_row()
{
	format=$1
	rm -rf "$work/out"
	cost "export $format ${3:-}" "$n" \
		"$stackonce" export "$@" -q --force "$work/t.stk" -o "$work/out"
	size=$(du -sb "$work/out" | cut -f 1)
	awk -v size="$size" -v n="$n" 'BEGIN {
		printf "    %d bytes, %.2f per event\n", size, size / n
	}'
	promise "export $format${3:+ $3}, ns per event" "$ns" 1000 300
	echo "$format ${ns:-0}" >>"$work/rows"
}

# perf_row FORMAT TITLE COMMAND...: what perf takes for an event of the same load, compared with the
# export to FORMAT.
perf_row()
{
	format=$1
	shift
	title=$1
	shift
	cost "$title" "$n" "$@"
	[ -n "$ns" ] || return 0
	awk -v format="$format" -v ns="$ns" '$1 == format && $2 {
		printf "    %.1f times what export %s takes\n", ns / $2, format
	}' "$work/rows"
}

tracefs_mount
with_recorder "$measure" "$work/cost" "$stackonce" record -q -a -o "$work/t.stk" \
	-e sched:sched_switch -e raw_syscalls:sys_enter
with_recorder "$measure" "$work/cost" perf record -q -a -g -m 16M -o "$work/perf.data" \
	-e sched:sched_switch -e raw_syscalls:sys_enter

printf '\n%-36s %10s %10s %9s\n' 'exporting' events 'CPU ns/ev' 'peak MB'
n=$("$stackonce" info --json "$work/t.stk" | jq .totals.recorded)
[ "${n:-0}" -gt 0 ] || {
	echo "FAIL  nothing was recorded: $(tail -n 1 "$work/record.err")"
	exit 1
}
printf 'recording: %s bytes\n' "$(stat -c %s "$work/t.stk")"
for format in $("$stackonce" export --help | sed -n '/^Formats:/,$s/^  \([^ :]*\): .*/\1/p'); do
	[ "$format" = clickhouse ] || export_row "$format"
done
for table in $("$stackonce" export clickhouse --tables "$work/t.stk"); do
	case $table in
	*:*) export_row clickhouse --rows "$table" ;;
	esac
done
n=$(perf script -i "$work/perf.data" -F comm -G 2>/dev/null | grep -c .)
repeats=1 # these take long
if [ "$n" -gt 0 ]; then
	perf_row folded 'perf script' perf script -i "$work/perf.data"
	perf_row ctf 'perf data convert --to-ctf' \
		perf data convert --force --to-ctf "$work/perf.ctf" -i "$work/perf.data"
else
	echo "perf                                 n/a: $(tail -n 1 "$work/record.err")"
fi
if [ "$failures" -eq 0 ]; then
	echo 'PASS  all bounds hold'
else
	echo "FAIL  bounds that do not hold, and rows that failed: $failures"
fi
[ "$failures" -eq 0 ]
