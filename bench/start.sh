#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How long a recording takes that records nothing but `true`: its start and its end.  Prints medians
# of wall and CPU time; the variants alternate.  The last lines check the promises.
#   BENCH_REPEATS  recordings of each variant (10)
#   BENCH_OLD      another stackonce to compare with
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
mkdir -m 700 "$XDG_CACHE_HOME"

# one NAME STACKONCE OPTIONS...: a recording.
one()
{
	name=$1
	shift
	"$measure" "$work/cost" "$@" -q --force -o "$work/start.stk" -e sched:sched_switch -- true ||
		exit 1
	value "$work/cost" wall_ns >>"$work/$name.wall"
	value "$work/cost" cpu_ns >>"$work/$name.cpu"
}

# ms NAME wall|cpu
ms()
{
	median <"$work/$1.$2" | awk '{ printf "%.0f\n", $1 / 1e6 }'
}

# row NAME WHAT
row()
{
	printf '%-34s %7s ms %7s ms\n' "$2" "$(ms "$1" wall)" "$(ms "$1" cpu)"
}

tracefs_mount
one first "$stackonce" record # fills the cache
for _ in $(seq "${BENCH_REPEATS:-10}"); do
	[ -z "${BENCH_OLD:-}" ] || one old "$BENCH_OLD" record
	one all "$stackonce" record
	one afresh "$stackonce" record --no-cache
	one kernel "$stackonce" record --no-user-stacks
	one none "$stackonce" record --no-user-stacks --no-kernel-stacks
done
printf '\n%-34s %10s %10s\n' 'record -e sched:sched_switch -- true' wall CPU
[ -z "${BENCH_OLD:-}" ] || row old "$BENCH_OLD"
row first 'the first one'
row all 'kernel and user stacks'
row afresh '... --no-cache'
row kernel 'kernel stacks'
row none 'no stacks'
promise 'kernel and user stacks, ms' "$(ms all wall)" 400
promise 'the same, ms of CPU time' "$(ms all cpu)" 300
[ "$failures" -eq 0 ]
