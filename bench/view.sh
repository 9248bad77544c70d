#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the page of `view` costs for about a million events with stacks: CPU time and memory of the
# command, size of the page, and, in a headless Chromium, how long it takes to load and to show
# another selection.  BENCH_REPEATS, BENCH_EVENTS: see lib_read.sh.
#   BENCH_RECORDING  a recording to show instead of a new one
# shellcheck source=bench/lib_read.sh
. "$BENCH/lib_read.sh"

recording=${BENCH_RECORDING:-$work/t.stk}
if [ -z "${BENCH_RECORDING:-}" ]; then
	tracefs_mount
	with_recorder "$measure" "$work/cost" "$stackonce" record -q -a --user-stacks \
		-o "$recording" -e sched:sched_switch -e raw_syscalls:sys_enter
fi
n=$("$stackonce" info --json "$recording" | jq .totals.recorded)
[ "${n:-0}" -gt 0 ] || {
	echo "FAIL  there is no event to show: $(tail -n 1 "$work/record.err")"
	exit 1
}

printf '\n%-36s %10s %10s %9s\n' writing events 'CPU ns/ev' 'peak MB'
cost view "$n" "$stackonce" view -q --force "$recording" -o "$work/page.html"
printf '    %s bytes\n' "$(stat -c %s "$work/page.html")"
promise 'view, bytes of the page' "$(stat -c %s "$work/page.html")" 10000000 10000000

printf '\n'
if ! node=$(sh "$BENCH/../npm/fetch.sh" node)/bin/node || ! command -v chromium >/dev/null; then
	echo "the page is not opened: that needs Chromium and Node"
	exit "$failures"
fi
"$node" "$BENCH/view.js" "$BENCH/../tests/judges/chromium.js" "$work/page.html" "$repeats" ||
	failures=$((failures + 1))
[ "$failures" -eq 0 ]
