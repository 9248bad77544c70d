# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug,rt smp=2 accel=multi mem=1024 monitor
# timeout: 600
# NMIs ask for user stacks, wherever they hit a task: in user space, in a system call, in the code
# that saves and loads the registers.  Each cookie has one stack.  Where the system call of the
# chain is the innermost frame, the others are those that the program prints.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

nmis()
{
	awk '/NMI:/ { print $2 + $3 }' /proc/interrupts
}

# nmis_came NUMBER: have there been so many?
nmis_came()
{
	[ "$(nmis)" -ge "$1" ]
}

# for_nmis NUMBER SECONDS: waits until that many more have come, at most so long.
for_nmis()
{
	until_true "$2" 1000000 nmis_came $(($(nmis) + $1)) || echo "fewer than $1 NMIs in $2 s"
}

# stop_and_check NAME: reads the ring buffer, which must have lost nothing; checks its cookies.
stop_and_check()
{
	echo 0 >"$i/tracing_on"
	cat "$i/trace" >"$OUT/trace-$1"
	cat "$i"/per_cpu/cpu*/stats | awk '/^overrun|^dropped/ { n += $NF } END { exit n != 0 }' ||
		fail "the ring buffer is too small for $1"
	check_cookies "$OUT/trace-$1" >"$OUT/count-$1" || {
		cat "$OUT/count-$1"
		fail "cookies of $1"
	}
}

# chains TRUTH TRACE: the number of stacks that begin as the truth does; fails if one of them goes
# on otherwise.
chains()
{
	awk '
		function judge() {
			if (!n || frame[1] != truth[1])
				return
			stacks++
			for (k = 1; k <= depth; k++)
				if (frame[k] != truth[k]) {
					print "frame " k " is " frame[k] ", not " truth[k]
					bad = 1
				}
		}
		FNR == NR { if ($1 == "frame") truth[++depth] = $2; next }
		/^cookie=/ { judge(); split("", frame); n = 0; next }
		/^ => +</ { o = $2; gsub(/[<>]/, "", o); frame[++n] = o }
		END { judge(); print stacks + 0; exit bad }
	' "$1" "$2"
}

[ -e "$tracefs/events/nmi/nmi_handler" ] || skip "no events for NMIs"
"$prog" chain 1 >"$OUT/said" || fail "chain"
user_instance nmi
echo 0 >"$i/options/overwrite"
echo 16384 >"$i/buffer_size_kb"
echo 1 >"$i/events/nmi/nmi_handler/enable"

# Nobody but NMIs asks.
before=$(nmis)
echo 1 >"$i/tracing_on"
"$prog" chain 2000000000 >/dev/null &
one=$!
"$prog" chain 2000000000 >/dev/null &
two=$!
for_nmis "$(by_variant 400 100)" 120
stop_and_check alone
kill "$one" "$two"
wait
came=$(($(nmis) - before))
asked=$(grep -c '<stack_id .*cookie=' "$OUT/trace-alone")
[ "$came" -ge 10 ] || fail "only $came NMIs came"
[ "$asked" -ge 10 ] || fail "only $asked of $came NMIs asked for a user stack"
same=$(chains "$OUT/said" "$OUT/trace-alone") || fail "$same"
[ "$same" -ge 5 ] || fail "only $same stacks are those of the chain"

# NMIs and a system call ask in the same entry, among faults and signals.
echo >"$i/trace"
getppid_on
"$prog" spin 600 &
one=$!
"$prog" spin 600 &
two=$!
for_nmis "$(by_variant 200 50)" 20
stop_and_check beside
kill "$one" "$two"
wait
rmdir "$i" || fail "rmdir"
echo "# $came NMIs, $asked asked, $same stacks compared; beside: $(tail -n 1 "$OUT/count-beside")"
