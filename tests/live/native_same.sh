#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The records that programs fill from a tracepoint's arguments are the kernel's, in all bytes of
# their fields and strings, for every event of the table that happens here.  What another CPU may
# change between the two programs of one hit, such as the name of the task that is woken, is counted
# apart.
# timeout: 14400
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

cat >work.sh <<EOF
"$PROG/pingpong" $(scale 20000 300 100000) >/dev/null
ping -q -i 0.01 -c $(scale 100 20 200) 127.0.0.1 >/dev/null 2>&1
i=0
while [ \$i -lt $(scale 200 20 400) ]; do
	i=\$((i + 1))
	"$PROG/sleeper" 2 >/dev/null
	dd if=/dev/zero of=file bs=64k count=8 2>/dev/null
	(true; false) | cat | sleep 0.001
	[ -z "${LIVE_VM:-}" ] || echo >/dev/console # an interrupt of a device
done
"$PROG/often" $(scale 2000 100 20000)
exit 0
EOF
rc=0
"$PROG/native_same" sh work.sh >out 2>err || rc=$?
cat out err
[ "$rc" -ne 77 ] || skip "$(tail -n 1 err)"
[ "$rc" -eq 0 ] || fail "native_same ended with $rc"
for event in sched_switch sched_wakeup sched_waking sched_wakeup_new sched_process_fork \
	sched_process_exit sched_process_free sched_process_wait softirq_entry softirq_exit \
	softirq_raise page_fault_user kmalloc kfree kmem_cache_free mm_page_alloc mm_page_free \
	hrtimer_start hrtimer_cancel hrtimer_expire_entry hrtimer_expire_exit timer_init; do
	agreed=$(sed -n "s/^$event \([0-9]*\) .*/\1/p" out)
	[ "${agreed:-0}" -ge 10 ] || fail "${agreed:-no} records of $event agree"
done
# docs/native-events.md says how often another CPU changes a field between the two programs.
changed=$(awk '!/^#/ && $4 > 1 + ($2 + $4) / 64' out)
[ -z "$changed" ] || fail "too much has changed meanwhile: $changed"
"$PROG/native_same" --spoil kfree sh -c 'for i in 1 2 3 4 5; do true | cat; done' >spoilt && {
	cat spoilt
	fail "no wrong record of kfree is found"
}
grep -q '^kfree 0 [1-9][0-9]* 0 0 ' spoilt || fail "wrong records are right: $(grep kfree spoilt)"

# NATIVE_RECORDS of each type, for docs/native-events.md: a few types at a time, so that no other
# comparison takes time.  KIND ROUNDS EVENTS: ROUNDS for 1,000 records.  NATIVE_LOADS=KIND,...: of
# these loads only.
while [ -n "${NATIVE_RECORDS:-}" ] && read -r kind rounds events; do
	case ,${NATIVE_LOADS:-$kind}, in *",$kind,"*) ;; *) continue ;; esac
	"$PROG/native_same" --only "$events" "$PROG/often" $((NATIVE_RECORDS * rounds / 1000)) \
		"${NATIVE_SECONDS:-600}" "$kind" >more || {
		cat more
		fail "$kind: native_same ended with $?"
	}
	sed "s/^/$kind: /" more
	cat more >>out
done <<END
naps 500 sched_switch,sched_waking,sched_wakeup,hrtimer_init,hrtimer_setup
naps 260 hrtimer_start,hrtimer_cancel,hrtimer_expire_entry,hrtimer_expire_exit
timers 130 hrtimer_start,hrtimer_cancel
sleepers 1000 timer_init,timer_cancel,timer_expire_exit
packets 65 net_dev_queue,netif_receive_skb,netif_rx,net_dev_xmit
packets 65 softirq_entry,softirq_exit,softirq_raise
faults 1000 page_fault_user,page_fault_kernel
faults 1000 mm_page_alloc,mm_page_free,mm_page_free_batched
faults 3000 mm_page_alloc_zone_locked,mm_page_pcpu_drain
files 1000 kmalloc,kfree,kmem_cache_alloc,kmem_cache_free
waits 20 sched_process_wait
threads 1030 sched_process_fork,sched_wakeup_new,sched_process_exit,sched_process_free
interrupts 1100 irq_handler_entry,irq_handler_exit
END
awk '!/^#/ { for (i = 2; i <= 4; i += 2) n[$1, i] += $i; names[$1] }
	END { for (e in names) print "total", e, n[e, 2], n[e, 4] }' out | sort
note "$(awk '!/^#/ { n += $2; changed += $4; missed += $6 }
	END { print n, "records equal,", changed, "changed meanwhile,", missed, "alone" }' out)"
