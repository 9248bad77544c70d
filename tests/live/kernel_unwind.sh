#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recorder walks kernel stacks by ORC rules, or has the kernel walk them: the stacks are the same.
# A rule that becomes wrong while recording is noticed with the first stack that it spoils; none of
# these is in the recording, and it says which are not verified.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

calls=$(scale 20000 2000)
cpus=$(getconf _NPROCESSORS_CONF 2>/dev/null || nproc)

# getppid's calls, recorded by HOW into HOW.stk.
for how in kernel orc; do
	rc=0
	# shellcheck disable=SC2086 # an option and its value
	"$STACKONCE" record -q $roomy --no-user-stacks --kernel-unwind $how -o $how.stk \
		-e raw_syscalls:sys_enter --filter 'id == 110' -- "$PROG/getppid" "$calls" >out 2>err || rc=$?
	[ $how$rc != orc1 ] || ! grep -q 'no ORC unwind rules' err || skip "$(cat err)"
	[ $rc -eq 0 ] || fail "--kernel-unwind $how: $(cat err)"
	want_sum $how.stk
	info_true $how.stk --arg how $how '.kernel_unwind.by == $how' || fail "$(info_of $how.stk .kernel_unwind)"
	"$STACKONCE" stacks --json $how.stk | jq -c '[.frames[] | .sym]' | sort -u >$how.stacks
done
grep -q do_syscall_64 orc.stacks || fail "$(cat orc.stacks)"
cmp -s kernel.stacks orc.stacks || fail "by the kernel $(cat kernel.stacks), by ORC rules $(cat orc.stacks)"
[ "$(info_of kernel.stk .kernel_unwind.walked)" -eq 0 ] || fail "$(info_of kernel.stk .kernel_unwind)"
info_true orc.stk --argjson calls "$calls" '.kernel_unwind |
	.walked + .left.no_rule + .left.other_text + .left.left_stack >= $calls and
	.walked > $calls * 0.9 and .checks.agreed >= 64' || fail "$(info_of orc.stk .kernel_unwind)"

# shellcheck disable=SC2016,SC2086 # variables of that shell; an option and its value
"$STACKONCE" record $roomy --no-user-stacks -o spoilt.stk -e raw_syscalls:sys_enter \
	--filter 'id == 110' -- sh -c '"$1/getppid" 200 && "$1/walk_spoil" $PPID do_syscall_64 &&
	"$1/getppid" "$2"' sh "$PROG" "$calls" >out 2>err || fail "$(cat out err)"
want_sum spoilt.stk 'a rule is wrong'
unverified=$(info_of spoilt.stk .kernel_unwind.checks.unverified)
differed=$(info_of spoilt.stk .kernel_unwind.checks.differed)
{ [ "$differed" -ge 1 ] && [ "$differed" -le "$cpus" ]; } ||
	fail "$(info_of spoilt.stk .kernel_unwind)"
{ [ "$unverified" -ge 1 ] && [ "$unverified" -le "$((cpus * 1024))" ]; } ||
	fail "$unverified stacks are not verified"
grep -q " $unverified before it are not verified" err || fail "not said: $(cat err)"
"$STACKONCE" stacks --json spoilt.stk 2>said | jq -c '[.frames[] | .sym]' | sort -u >spoilt.stacks
cmp -s kernel.stacks spoilt.stacks || fail "a wrong stack: $(cat spoilt.stacks)"
grep -q "$unverified kernel stacks of raw_syscalls:sys_enter from .* are not verified" said ||
	fail "$(cat said)"
note "$(info_of orc.stk .kernel_unwind.walked) of $calls walked; a wrong rule: $unverified not verified"
