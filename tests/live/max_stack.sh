#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where kernel.perf_event_max_stack cuts stacks, record warns once, and only there.
# alone: it sets kernel.perf_event_max_stack, and the kernel refuses that while stacks are walked
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
sysctl=/proc/sys/kernel/perf_event_max_stack
before=$(cat $sysctl)

set_max_stack()
{
	echo "$1" 2>/dev/null >$sysctl
}

restore()
{
	until_true 30 set_max_stack "$before"
}

until_true 5 set_max_stack 90 || skip "$sysctl cannot be set: stacks are walked on this machine"
"$STACKONCE" record --no-user-stacks -o x.stk -e $call -- true 2>err || fail "record ended with $?"
"$STACKONCE" record --no-user-stacks -o x.stk --max-depth 90 -e $call -- true 2>err90 ||
	fail "record --max-depth ended with $?"
until_true 30 set_max_stack "$before" || fail "$sysctl cannot be set back"
[ "$(grep -c perf_event_max_stack err)" -eq 1 ] || fail "not one warning that stacks are cut"
! grep -q perf_event_max_stack err90 || fail "a warning although no stack is cut"
note "one warning where the kernel walks only 90 frames"
