#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# NMIs while the map is filled; each is an event with a stack.
# needs: variant=default,debug smp=2 accel=multi mem=1024 monitor
# timeout: 600
. "$TESTS/lib.sh"

[ -e "$tracefs/events/nmi/nmi_handler" ] || skip "no events for NMIs"
rounds=$(by_variant 60 12)
instance ids 14
instance full 0
for name in ids full; do
	echo 16384 >"$tracefs/instances/$name/buffer_size_kb"
	events "$tracefs/instances/$name" nmi kmem syscalls sched/sched_switch
done
before=$(awk '/NMI:/ { print $2 + $3 }' /proc/interrupts)
"$TESTS/race" -a -i 5 "$rounds" ids full >"$OUT/race"
rc=$?
cat "$OUT/race"
nmis=$(($(awk '/NMI:/ { print $2 + $3 }' /proc/interrupts) - before))
[ $rc -eq 0 ] || exit $rc
[ $nmis -ge 10 ] || fail "only $nmis NMIs came"
seen=$(sed -n 's/.* \([0-9]*\) in NMIs.*/\1/p' "$OUT/race")
[ "${seen:-0}" -ge 10 ] || fail "only $seen of $nmis NMIs were events with stacks"
note "$nmis NMIs; $(sed -n 's/^# //p' "$OUT/race")"
