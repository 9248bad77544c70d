#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On a full disk, and with an output that cannot be written, record prints one clear message and
# fails, and what was written before can be read.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

mkdir mnt
mount -t tmpfs -o size=512k tmpfs mnt || skip "tmpfs cannot be mounted"
"$PROG/getppid" 1000000000 >/dev/null &
test_pids="$test_pids $!"
"$PROG/forktree" 16 1 1000000 >/dev/null &
test_pids="$test_pids $!"
rc=0
"$STACKONCE" record -q -a -e raw_syscalls:sys_enter -o mnt/full.stk \
	>out 2>err || rc=$?
cat err
[ "$rc" -ne 0 ] || fail "record exited with 0 although the disk is full"
[ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines of messages instead of one"
grep -qi 'space' err || fail "the message does not say that no space is left"
"$STACKONCE" info --json mnt/full.stk >info.json || fail "the recording cannot be opened"
events=$(printed mnt/full.stk)
[ "$events" -gt 1000 ] || fail "only $events events are readable"

rc=0
"$STACKONCE" record -q -a -e sched:sched_switch -d 5 -o - >/dev/full 2>err || rc=$?
[ "$rc" -ne 0 ] || fail "record exited with 0 although the output cannot be written"
[ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines of messages for /dev/full"
# So does a limit for the size of files, as of a service.
rc=0
(ulimit -f 512 && exec "$STACKONCE" record -q -a -e raw_syscalls:sys_enter -o small.stk) \
	>out 2>err || rc=$?
[ "$rc" -eq 1 ] || fail "record ended with $rc at the limit for files: $(cat err)"
[ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines of messages at the limit for files"
grep -q 'too large' err || fail "the message does not say that the file is too large: $(cat err)"
"$STACKONCE" info small.stk >/dev/null || fail "the recording at the limit cannot be opened"
[ "$(printed small.stk)" -gt 100 ] || fail "only $(printed small.stk) events fit into the limit"
note "$events events fit into 512 KiB"
