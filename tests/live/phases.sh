#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# record -v prints how long the parts of the start and of the end take.  They add up to the whole,
# and the whole is part of the time of the command.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# sum_of PHASE: the parts, their sum and the whole, in ns of wall and CPU.
sum_of()
{
	tr -d , <log | awk -v phase="$1:" '{ for (i = 1; i < NF && $i != phase; i++); }
		$i == phase && /: in all$/ { wall = $(i + 1); cpu = $(i + 4); next }
		$i == phase { parts++; sum += $(i + 1); sum_cpu += $(i + 4) }
		END { printf "%d %.0f %.0f %.0f %.0f\n", parts, sum, sum_cpu, wall, cpu }'
}

for backend in bpf ftrace; do
	[ "$backend" = bpf ] || [ -d "$tracefs/instances" ] || continue
	read -r before _ </proc/uptime
	"$STACKONCE" record -v --backend $backend -e sched:sched_switch -o out.stk -- sleep 0.1 \
		2>log >/dev/null || fail "$backend: record ended with $?: $(tail -n 1 log)"
	read -r after _ </proc/uptime
	elapsed=$(echo "$before $after" | awk '{ printf "%.0f", ($2 - $1 + 0.01) * 1e9 }')
	whole=0
	for phase in start end; do
		# shellcheck disable=SC2046 # numbers
		set -- $(sum_of $phase)
		[ "$1" -ge 5 ] || fail "$backend: $1 parts of the $phase"
		[ "$2" -eq "$4" ] || fail "$backend: parts of the $phase: $2 ns of $4"
		[ "$3" -eq "$5" ] || fail "$backend: parts of the $phase: $3 ns of CPU of $5"
		[ "$5" -gt 0 ] || fail "$backend: the $phase takes no CPU time"
		whole=$((whole + $4))
		note "$backend, $phase: $1 parts, $4 ns, CPU $5 ns"
	done
	[ "$whole" -lt "$elapsed" ] || fail "$backend: start and end take $whole ns of $elapsed"
done
"$STACKONCE" record -v -e sched:sched_switch -o out.stk -- true 2>log >/dev/null ||
	fail "record ended with $?: $(tail -n 1 log)"
for part in 'symbols of the kernel' 'events and their formats' 'unwind rules of the kernel' \
	'BPF programs verified' 'programs attached'; do
	grep -q "start: .* ns, CPU .* ns: $part\$" log || fail "no part '$part' of the start"
done
