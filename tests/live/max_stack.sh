#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where kernel.perf_event_max_stack cuts stacks, record warns once, and only there, and the stacks
# say so.
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
# The stacks of sched_switch are deeper than 8.  If the kernel fills its record, some kernels report
# the first frame twice, so that there is one less.
until_true 30 set_max_stack 8 || fail "$sysctl cannot be set again"
"$STACKONCE" record -a --fields kernel --no-user-stacks -o cut.stk -e sched:sched_switch -- \
	sleep 0.2 2>err8 || fail "record ended with $?"
until_true 30 set_max_stack "$before" || fail "$sysctl cannot be set back"
[ "$(grep -c perf_event_max_stack err)" -eq 1 ] || fail "not one warning that stacks are cut"
! grep -q perf_event_max_stack err90 || fail "a warning although no stack is cut"
"$STACKONCE" stacks --json cut.stk | jq -r 'select(.kind == "kernel") | "\(.depth) \(.end)"' |
	sort | uniq -c >depths
grep -q at_limit depths || fail "no stack is cut; their depths and ends: $(cat depths)"
note "one warning where the kernel walks only 90 frames"
