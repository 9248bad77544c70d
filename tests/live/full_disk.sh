#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On a full disk, and with an output that cannot be written, record prints one clear message and
# fails, and what was written before can be read.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# has_events FILE: more than 1,000 events can be read.
has_events()
{
	[ "$(printed "$1" 2>/dev/null)" -gt 1000 ]
}

# fill FILE BLOCKS: records processes that make few calls until some are in FILE, and then as many
# as they can, until the recorder fails with $rc.  What was in the file before stays there.  BLOCKS
# is the limit for files.
fill()
{
	rm -f go
	fill_pids=
	for program in "getppid 1000000000" "forktree 16 1 1000000"; do
		# shellcheck disable=SC2016 # for the other shell
		sh -c 'until [ -e go ]; do sleep 0.01; done; exec $0' "$PROG/$program" >/dev/null &
		fill_pids="$fill_pids $!"
	done
	test_pids="$test_pids $fill_pids"
	limit=$(ulimit -S -f)
	ulimit -S -f "$2"
	# shellcheck disable=SC2086 # numbers
	record_bg -p "$(echo $fill_pids | tr ' ' ,)" --no-user-stacks -e raw_syscalls:sys_enter \
		-o "$1"
	ulimit -S -f "$limit"
	err=record_bg.err
	while_runs "$recorder" has_events "$1" || fail "no events before $1 is full: $(cat $err)"
	before=$(printed "$1")
	touch go
	rc=0
	wait "$recorder" || rc=$?
	# shellcheck disable=SC2086 # numbers
	end_child KILL $fill_pids
	[ "$(wc -l <$err)" -eq 1 ] || fail "$(wc -l <$err) lines of messages: $(cat $err)"
	"$STACKONCE" info --json "$1" >info.json || fail "$1 cannot be opened"
	events=$(printed "$1")
	[ "$events" -ge "$before" ] || fail "of $before events in $1 only $events are left"
}

mkdir mnt
mount -t tmpfs -o size=512k tmpfs mnt || skip "tmpfs cannot be mounted"
fill mnt/full.stk unlimited
[ "$rc" -ne 0 ] || fail "record exited with 0 although the disk is full"
grep -qi 'space' $err || fail "the message does not say that no space is left: $(cat $err)"
note "$events events fit into 512 KiB, $before of them before the load"

rc=0
"$STACKONCE" record -q -a -e sched:sched_switch -d 5 -o - >/dev/full 2>err || rc=$?
[ "$rc" -ne 0 ] || fail "record exited with 0 although the output cannot be written"
[ "$(wc -l <err)" -eq 1 ] || fail "$(wc -l <err) lines of messages for /dev/full"
# So does a limit for the size of files, as of a service.
fill small.stk 512
[ "$rc" -eq 1 ] || fail "record ended with $rc at the limit for files: $(cat $err)"
grep -q 'too large' $err || fail "the message does not say that the file is too large: $(cat $err)"
