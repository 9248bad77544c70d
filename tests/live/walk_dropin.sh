#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every kernel stack that is walked in another tool's program equals that of bpf_get_stack(): at
# tracepoints of many subsystems (in programs of both types), at functions where kprobes are
# allowed, and in timer samples.  Without rules the kernel walks every stack; wrong rules are
# noticed.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_walk.sh
. "$LIVE/lib_walk.sh"
cd "$work" || exit 1

need_tracefs
for event in sched:sched_switch sched:sched_waking sched:sched_wakeup sched:sched_process_exit \
	irq:softirq_entry irq_vectors:local_timer_entry irq_vectors:reschedule_entry \
	exceptions:page_fault_user exceptions:page_fault_kernel kmem:kmalloc kmem:kmem_cache_alloc \
	kmem:mm_page_alloc kmem:kfree block:block_rq_issue block:block_rq_complete \
	timer:timer_start timer:hrtimer_start net:net_dev_queue net:netif_receive_skb \
	skb:consume_skb sock:inet_sock_set_state workqueue:workqueue_execute_start \
	writeback:writeback_dirty_folio ext4:ext4_da_write_begin jbd2:jbd2_handle_start \
	raw_syscalls:sys_enter raw_syscalls:sys_exit task:task_newtask signal:signal_generate \
	mmap:vm_unmapped_area filemap:mm_filemap_add_to_page_cache rcu:rcu_utilization \
	percpu:percpu_alloc_percpu; do
	[ -d "$tracefs/events/${event%:*}/${event#*:}" ] && echo "$event"
done >events
nr=$(wc -l <events)
probed_functions >>events

calls=$(scale 10000 2000)
cat >all <<END
"$PROG/pingpong" $calls 0 >out
"$PROG/getppid" $calls >>out
i=0
while [ \$i -lt $(scale 30 10) ]; do
	i=\$((i + 1))
	dd if=/dev/zero of=file bs=64k count=4 conv=fsync 2>>out
	find /proc/self /proc/sys/kernel >>out 2>&1
done
rm -f file
END

compare_stacks events sh all
[ "$(value at_events)" -eq "$((2 * nr))" ] ||
	fail "not all tracepoints were attached: $(cat walks err)"
[ "$(value with_samples)" -gt "$(value at_events)" ] || fail "no samples were attached"
functions=$(($(value with_functions) - $(value with_samples)))
for kind in event raw sample $([ $functions -eq 0 ] || echo function); do
	[ "$(value "walked_at_$kind")" -gt "$(scale 500 50)" ] ||
		fail "only $(value "walked_at_$kind") stacks of type $kind: $(cat walks)"
done
[ "$(value agreed)" -gt "$(scale 100000 3000)" ] ||
	fail "only $(value agreed) stacks were compared"
[ "$(value bytes)" -lt 8388608 ] || fail "the tables are too large: $(value bytes) bytes"
grep gave_up_at walks | sort -rnk 3 | head -n 5
left=$(($(value off) + $(value "no rule") + $(value "other text") + $(value "left the stack")))
note "$(value agreed) stacks equal, $(value walked_at_raw) of them in raw tracepoint programs," \
	"$(value walked_at_function) at $functions functions; $left left to the kernel"

rules=$(value bytes)
"$PROG/walk_dropin" none events true >walks 2>err || fail "without rules: $(cat err)"
[ "$(value walked)" -eq 0 ] || fail "stacks were walked without rules: $(cat walks)"
[ "$(value empty)" -eq 0 ] || fail "the kernel returned empty stacks: $(cat walks)"
[ "$rules" -gt 1000 ] || exit 0 # this kernel uses frame pointers: it has no rules to spoil
for spoiled in ends-early ends-at-registers; do
	"$PROG/walk_dropin" $spoiled events "$PROG/pingpong" "$(scale 3000 1000)" 0 >walks 2>err ||
		fail "with $spoiled: $(cat err)"
	[ "$(value differed)" -gt 0 ] || fail "$spoiled is not noticed: $(cat walks)"
	[ "$(value off)" -gt 0 ] || fail "$spoiled does not stop the walk: $(cat walks)"
	[ "$(value empty)" -eq 0 ] || fail "the kernel returned empty stacks: $(cat walks)"
done
