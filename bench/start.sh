#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How long a recording takes that records nothing but `true`: its start and its end.  Prints medians
# of wall and CPU time; the variants alternate.
#   START_ROUNDS  recordings of each variant (10)
#   START_OLD     another stackonce to compare with
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

rounds=${START_ROUNDS:-10}
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

# row NAME WHAT
row()
{
	[ -s "$work/$1.wall" ] || return 0
	printf '%-34s %7.0f ms %7.0f ms\n' "$2" \
		"$(median <"$work/$1.wall" | awk '{ print $1 / 1e6 }')" \
		"$(median <"$work/$1.cpu" | awk '{ print $1 / 1e6 }')"
}

tracefs_mount
one first "$stackonce" record # fills the cache
for _ in $(seq "$rounds"); do
	[ -z "${START_OLD:-}" ] || one old "$START_OLD" record
	one all "$stackonce" record
	one afresh "$stackonce" record --no-cache
	one kernel "$stackonce" record --no-user-stacks
	one none "$stackonce" record --no-user-stacks --no-kernel-stacks
done
printf '\n%-34s %10s %10s\n' 'record -e sched:sched_switch -- true' wall CPU
row old "$(basename "$(dirname "${START_OLD:-x}")")/$(basename "${START_OLD:-x}")"
row first 'the first one'
row all 'kernel and user stacks'
row afresh '... --no-cache'
row kernel 'kernel stacks'
row none 'no stacks'
