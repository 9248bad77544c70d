#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recorder walks kernel stacks by ORC rules, or along frame pointers, or has the kernel walk them: the
# stacks are the same.  A rule that becomes wrong while recording is noticed with the first stack that it
# spoils; none of these is in the recording, and it says which are not verified.
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
	[ $how$rc != orc1 ] || ! grep -q 'nor ORC unwind rules' err || skip "$(cat err)"
	[ $rc -eq 0 ] || fail "--kernel-unwind $how: $(cat err)"
	want_sum $how.stk
	by=$(info_of $how.stk -r .kernel_unwind.by)
	[ "$by" = $how ] || [ $how$by = orcframe_pointers ] || fail "$(info_of $how.stk .kernel_unwind)"
	"$STACKONCE" stacks --json $how.stk | jq -c '[.frames[] | .sym]' | sort -u >$how.stacks
done
grep -q do_syscall_64 orc.stacks || fail "$(cat orc.stacks)"
cmp -s kernel.stacks orc.stacks || fail "by the kernel $(cat kernel.stacks), by the recorder $(cat orc.stacks)"
[ "$(info_of kernel.stk .kernel_unwind.walked)" -eq 0 ] || fail "$(info_of kernel.stk .kernel_unwind)"
info_true orc.stk --argjson calls "$calls" '.kernel_unwind |
	.walked + .left.no_rule + .left.other_text + .left.left_stack >= $calls and
	.walked > $calls * 0.9 and .checks.agreed >= 64' || fail "$(info_of orc.stk .kernel_unwind)"

[ "$(info_of orc.stk .kernel_unwind.remembered)" -gt $((calls / 2)) ] ||
	fail "$(info_of orc.stk .kernel_unwind)"

# In FILE a stack has differed, and not more than a check's distance are not verified.
want_noticed()
{
	want_sum "$1" 'a rule is wrong'
	unverified=$(info_of "$1" .kernel_unwind.checks.unverified)
	differed=$(info_of "$1" .kernel_unwind.checks.differed)
	{ [ "$differed" -ge 1 ] && [ "$differed" -le "$((events * cpus))" ]; } ||
		fail "$(info_of "$1" .kernel_unwind)"
	{ [ "$unverified" -ge 1 ] && [ "$unverified" -le "$((events * cpus * 1024))" ]; } ||
		fail "$unverified stacks are not verified"
	grep -q " $unverified earlier stacks are not verified" err || fail "not said: $(cat err)"
	"$STACKONCE" stacks --json "$1" 2>said | jq -c '[.frames[] | .sym]' | sort -u >spoilt.stacks
	grep -q "kernel stacks of raw_syscalls:sys_enter from .* are not verified" said ||
		fail "$(cat said)"
}

# A rule: nothing that it spoils is in the recording.
spoil_rule()
{
	events=1
	# shellcheck disable=SC2016,SC2086 # variables of that shell; an option and its value
	"$STACKONCE" record $roomy --no-user-stacks -o spoilt.stk -e raw_syscalls:sys_enter \
		--filter 'id == 110' -- sh -c '"$1/getppid" 200 && "$1/walk_spoil" $PPID do_syscall_64 &&
		"$1/getppid" "$2"' sh "$PROG" "$calls" >out 2>err || fail "$(cat out err)"
	want_noticed spoilt.stk
	cmp -s kernel.stacks spoilt.stacks || fail "a wrong stack: $(cat spoilt.stacks)"
	rule=$unverified
}
rule=none
[ "$by" != orc ] || spoil_rule

# What is remembered, on a CPU: one of the next 1,024 that are.
events=2
# shellcheck disable=SC2016,SC2086 # variables of that shell; an option and its value
"$STACKONCE" record $roomy --no-user-stacks -o memo.stk -e raw_syscalls:sys_enter \
	--filter 'id == 110' -e raw_syscalls:sys_exit --filter 'id == 110' -- taskset 1 sh -c '
	"$1/getppid" 2000 && "$1/walk_spoil" $PPID && "$1/getppid" "$2"' sh "$PROG" "$calls" \
	>out 2>err || fail "$(cat out err)"
want_noticed memo.stk
note "$(info_of orc.stk .kernel_unwind.walked) of $calls walked, $(info_of orc.stk .kernel_unwind.remembered)\
 remembered; not verified: with a wrong rule $rule, with wrong ids $unverified"
