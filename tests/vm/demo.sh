#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Makes tests/golden/demo.stk in a test machine (`./run vm demo`), which ./run demo shows where the
# kernel does not permit recording.  The load runs before, during and after the recording.
mkdir -p /out/keep /tmp/files
for i in $(seq 1 200); do
	head -c 20000 /usr/bin/stackonce >/tmp/files/"$i"
done
(while :; do
	find /tmp/files /bin -type f | head -n 300 | xargs cat | gzip -1 | wc -c >/dev/null
	sleep 0.05
done) &
(while :; do
	/live/prog/pingpong 300 1 >/dev/null
	/live/prog/forktree 2 2 5 >/dev/null
	sleep 0.2
done) &
cd /out/keep || exit 1
if /usr/bin/stackonce record -q -a -e sched:sched_switch -e 'sched:sched_process_*' -F 99 -d 4 \
	-o demo.stk; then
	printf 'demo\tOK\t1\t0\t0\n' >/out/results
fi
