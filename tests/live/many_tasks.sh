#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# So many tasks that their list is longer than a string of the file: the recording has the whole
# list, at its start and at its end, and nothing is lost while it is read.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

threads=12000
mkfifo in
"$PROG/many_threads" "$threads" <in >ready 2>why &
test_pids="$test_pids $!"
exec 3>in
until_true 30 test -s ready || {
	[ -s why ] || fail "$threads threads are not started within 150 s"
	skip "$threads threads cannot be started here: $(cat why)"
}
record -a -e 'sched:sched_process_*' -d 1 -o many.stk
exec 3>&-
want_sum many.stk
[ -z "$(missing_from many.stk)" ] || fail "events were lost: $(missing_from many.stk)"
for when in start end; do
	info_of many.stk -r ".meta[\"tasks.$when\"]" >list
	[ "$(wc -c <list)" -gt 1048576 ] || fail "the list of the $when has $(wc -c <list) bytes"
	[ "$(wc -l <list)" -ge "$threads" ] || fail "the list of the $when has $(wc -l <list) tasks"
done
info_true many.stk '.meta | has("metadata.left_out") | not' ||
	fail "left out: $(info_of many.stk '.meta["metadata.left_out"]')"
"$STACKONCE" lifecycle many.stk >answer || fail "lifecycle cannot read the recording"
note "$(wc -l <list) tasks in $(wc -c <list) bytes"
