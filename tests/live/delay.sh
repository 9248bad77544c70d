#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# -D records what happens after the delay, and counts nothing before; a command that ends earlier
# leaves a recording without events.  With BPF and with ftrace.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
ms=$(scale 1500 6000)
# 101 calls at once, and 202 when the file has its name, which is after the recording has begun.
cat >early <<-EOF
	$PROG/getppid 101
	cat /proc/uptime /proc/\$\$/stat >called
	for _ in \$(seq 600); do
		[ ! -e late.stk ] || break
		sleep 0.1
	done
	$PROG/getppid 202
EOF

# in_time: the 101 calls had ended before the delay was over, which begins after the fork of the
# command: both times are in hundredths of a second, rounded down.
in_time()
{
	awk -v ms="$ms" 'NR == 1 { called = $1 * 100 }
		END { exit called >= $22 + ms / 10 }' called
}

# calls_in FILE: the calls of the program; a shell may call getppid() when it starts.
calls_in()
{
	"$STACKONCE" script --no-header --no-stacks --event $call --comm getppid "$1" | wc -l
}

backends=bpf
[ ! -d "$tracefs/instances" ] || backends="bpf ftrace"
for backend in $backends; do
	# On a busy machine the delay may end before the 101 calls.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rm -f late.stk
		record --backend "$backend" --no-user-stacks -D "$ms" -o late.stk -e $call -- \
			sh early
		want_sum late.stk
		! in_time || break
		[ "$try" -lt 10 ] || fail "$backend: the delay may have ended before the" \
			"first calls: $(cat called)"
	done
	[ "$(calls_in late.stk)" -eq 202 ] ||
		fail "$backend: $(calls_in late.stk) of 202 calls after the delay recorded"
	# Other processes make such calls, too: they are filtered, or lost on the edge.
	all=$(($(counted late.stk $call happened) - $(counted late.stk $call filtered)))
	all=$((all - $(edge_of late.stk $call)))
	[ "$all" -eq 202 ] || fail "$backend: $all calls counted instead of 202"
	info_true late.stk --arg ms "$ms" '.meta."selected.delay_ms" == $ms' ||
		fail "$backend: info does not say when recording began"

	rc=0
	"$STACKONCE" record -q --backend "$backend" --no-user-stacks -D 600000 -o none.stk -e $call \
		-- sh -c "$PROG/getppid 10 >/dev/null; exit 7" 2>err || rc=$?
	[ "$rc" -eq 7 ] || fail "$backend: record ended with $rc instead of 7: $(cat err)"
	want_sum none.stk
	info_true none.stk '.totals.happened == 0 and .ended == "clean"' ||
		fail "$backend: something was recorded before the delay was over"
done
record_out=$("$STACKONCE" record --no-user-stacks -D 600000 -o none.stk -e $call -- true 2>&1)
echo "$record_out" | grep -q 'nothing was recorded: the processes ended before the delay' ||
	fail "no warning about a command that ended before the delay: $record_out"
note "$backends: 202 calls after $ms ms recorded, none before"
