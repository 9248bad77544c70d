#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two CPUs store the same new stacks at the same time, for 200 rounds: there is no duplicate, and
# every id is the stack that a second instance has in full.
# needs: variant=default,debug,kcsan,rt smp=2 accel=multi mem=1024
# timeout: 600
. "$TESTS/lib.sh"

rounds=$(by_variant 200 40)
instance ids 14
instance full 0
for name in ids full; do
	echo 8192 >"$tracefs/instances/$name/buffer_size_kb"
	events "$tracefs/instances/$name" kmem syscalls signal sched/sched_switch \
		sched/sched_wakeup exceptions filemap task
done
"$TESTS/race" -c "$rounds" ids full
