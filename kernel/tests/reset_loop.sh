#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The map is reset repeatedly between rounds and refuses it while it is filled, all its files are
# read meanwhile: every id in the ring buffer is right.
# needs: variant=all smp=2 accel=multi mem=1024
# timeout: 600
. "$TESTS/lib.sh"

rounds=$(by_variant 100 30)
instance ids 10
instance full 0
for name in ids full; do
	echo 8192 >"$tracefs/instances/$name/buffer_size_kb"
	events "$tracefs/instances/$name" kmem syscalls sched/sched_switch task
done
"$TESTS/race" -r "$rounds" ids full
