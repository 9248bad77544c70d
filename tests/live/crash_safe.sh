#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 at random moments: every file opens and has ended "abrupt", and no event older than a
# second is missing.  The log of a ticker says which events must be in the file.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm # a disk may hold up a write for more than a second
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

kills=$(scale 12 8 80)
side=$(scale 4 1)

uptime_ns()
{
	awk '{ printf "%.0f\n", $1 * 1000000000 }' /proc/uptime
}

# random MAX: prints a number from 0 to MAX - 1
random()
{
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# The recorders are killed within twice the time that it takes to start one here, plus 3 s.
uptime_ns >started
record_bg -a -o range.stk -e syscalls:sys_enter_getppid -e sched:sched_switch
range=$((($(uptime_ns) - $(cat started)) / 500000 + 3000))
stop_recorder

# check FILE TICKS KILLED TICKER: the recorder of FILE was killed after time KILLED.
check()
{
	[ -e "$1" ] || return 0
	"$STACKONCE" info --json "$1" >"$1.info" 2>"$1.err" || {
		cat "$1.err"
		echo "$1 of $(wc -c <"$1") bytes does not open"
		return 1
	}
	[ "$(jq -r .ended "$1.info")" = abrupt ] || {
		echo "$1: ended $(jq -r .ended "$1.info")"
		return 1
	}
	"$STACKONCE" script --json --pid "$4" --event syscalls:sys_enter_getppid "$1" 2>/dev/null |
		jq .ts >"$1.ts"
	# Tick k is before event k, which is before tick k + 1.  From the first event of the file
	# on, every event whose next tick is older than a second when the recorder dies is there.
	awk -v killed="$3" '
		NR == FNR { ts[++n] = $1; next }
		n && $1 <= ts[1] { first = FNR }
		{
			tick[FNR] = $1
			if ($1 < killed - 1000000000)
				old = FNR - 1
		}
		END {
			if (!n)
				exit
			for (i = 1; i <= n; i++)
				if (ts[i] < tick[first + i - 1] ||
				    ((first + i) in tick && ts[i] > tick[first + i])) {
					print "event " i " is not that of tick " first + i - 1
					exit 1
				}
			if (first + n - 1 < old) {
				print "the file ends at tick " first + n - 1 ", " \
					(killed - ts[n]) / 1000000 \
					" ms before its recorder; event " old \
					" is older than a second"
				exit 1
			}
		}' "$1.ts" "$2" || return 1
	[ ! -s "$1.ts" ] || echo "$1" >>with_events
}

# one NUMBER: kills a recorder between its start and a few seconds after it was armed; three of four
# are killed after they have created the file.
one()
{
	"$PROG/ticker" "ticks.$1" 4000 &
	ticker=$!
	"$STACKONCE" record -q -a -k mono -o "$1.stk" -e syscalls:sys_enter_getppid \
		-e sched:sched_switch >/dev/null 2>&1 &
	rec=$!
	ms=$(random "$range")
	if [ $(($1 % 4)) -ne 0 ]; then
		until_true 30 test -e "$1.stk" || echo "$1.stk: no such file" >"$1.failed"
		ms=$((ms / 2))
	fi
	sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
	# the time of the last tick before the signal
	killed=$(tail -n 1 "ticks.$1")
	kill -KILL "$rec"
	wait "$rec"
	end_child KILL "$ticker"
	check "$1.stk" "ticks.$1" "$killed" "$ticker" >"$1.msg" || mv "$1.msg" "$1.failed"
	rm -f "$1.stk" "$1.stk.ts" "$1.stk.info" "ticks.$1"
}

: >with_events
i=0
while [ "$i" -lt "$kills" ]; do
	jobs=
	for _ in $(seq 1 "$side"); do
		one "$i" 2>/dev/null &
		jobs="$jobs $!"
		i=$((i + 1))
	done
	for j in $jobs; do
		wait "$j"
	done
done
if ls ./*.failed >/dev/null 2>&1; then
	cat ./*.failed
	fail "$(cat ./*.failed | wc -l) of $kills recordings are wrong"
fi
# A kill before the first event tests nothing, but most come later.
[ "$(wc -l <with_events)" -ge "$((kills / 4))" ] ||
	fail "only $(wc -l <with_events) files have events"
note "$kills kills within $range ms, $(wc -l <with_events) files with events"
