#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The stacks are the same whether the recorder walks kernel stacks by ORC rules, along frame
# pointers, or has the kernel walk them.  A rule that becomes wrong during a recording is noticed
# with the first stack that it spoils; the recording has no spoilt stack, and says which stacks are
# not verified, and which two differed.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

calls=$(scale 20000 2000)
cpus=$(getconf _NPROCESSORS_CONF 2>/dev/null || nproc)

# getppid's calls, recorded with --kernel-unwind HOW into HOW.stk.
for how in kernel orc; do
	rc=0
	# shellcheck disable=SC2086 # an option and its value
	"$STACKONCE" record -q $roomy --no-user-stacks --kernel-unwind $how -o $how.stk \
		-e raw_syscalls:sys_enter --filter 'id == 110' -- \
		"$PROG/getppid" "$calls" >out 2>err || rc=$?
	[ $how$rc != orc1 ] || ! grep -q 'nor ORC unwind rules' err || skip "$(cat err)"
	[ $rc -eq 0 ] || fail "--kernel-unwind $how: $(cat err)"
	want_sum $how.stk
	by=$(info_of $how.stk -r .kernel_unwind.by)
	[ "$by" = $how ] || [ $how$by = orcframe_pointers ] ||
		fail "--kernel-unwind $how: $(info_of $how.stk .kernel_unwind)"
	"$STACKONCE" stacks --json $how.stk | jq -c '[.frames[] | .sym]' | sort -u >$how.stacks
done
grep -q do_syscall_64 orc.stacks || fail "no stack goes through do_syscall_64: $(cat orc.stacks)"
cmp -s kernel.stacks orc.stacks ||
	fail "stacks differ: $(cat kernel.stacks) by the kernel, $(cat orc.stacks) by the recorder"
[ "$(info_of kernel.stk .kernel_unwind.walked)" -eq 0 ] ||
	fail "the recorder walked stacks: $(info_of kernel.stk .kernel_unwind)"
info_true orc.stk --argjson calls "$calls" '.kernel_unwind |
	.walked + .left.no_rule + .left.other_text + .left.left_stack >= $calls and
	.walked > $calls * 0.9 and .checks.agreed >= 64' ||
	fail "too few stacks were walked or checked: $(info_of orc.stk .kernel_unwind)"

[ "$(info_of orc.stk .kernel_unwind.remembered)" -gt $((calls / 2)) ] ||
	fail "too few stacks were remembered: $(info_of orc.stk .kernel_unwind)"

# The registers of a program in user space end a stack, but where it jumped into the kernel's text,
# the kernel takes that address for a frame.
text=$(awk '$3 == "_stext" { print $1; exit }' /proc/kallsyms)
"$STACKONCE" record -q $roomy --no-user-stacks --kernel-unwind auto -o jumped.stk \
	-e exceptions:page_fault_user -- "$PROG/jump_kernel" "$calls" "$text" 2>err ||
	fail "$(cat err)"
want_sum jumped.stk
jumps=$("$STACKONCE" stacks --json jumped.stk | jq -n --arg text "0x$text" '
	[inputs | select(.frames[-1].ip == $text) | .refs] | add // 0')
[ "$jumps" -eq "$calls" ] || fail "$jumps stacks end at $text: $("$STACKONCE" stacks jumped.stk)"

# want_noticed FILE: a stack has differed, and no more stacks than lie between two checks are not
# verified.
want_noticed()
{
	want_sum "$1" 'a rule is wrong'
	unverified=$(info_of "$1" .kernel_unwind.checks.unverified)
	differed=$(info_of "$1" .kernel_unwind.checks.differed)
	{ [ "$differed" -ge 1 ] && [ "$differed" -le "$((events * cpus))" ]; } ||
		fail "$differed stacks differed: $(info_of "$1" .kernel_unwind)"
	{ [ "$unverified" -ge 1 ] && [ "$unverified" -le "$((events * cpus * 1024))" ]; } ||
		fail "$unverified stacks are not verified"
	tr -d , <err | grep -q " $unverified earlier stacks* not verified" ||
		fail "record does not say how many stacks are not verified: $(cat err)"
	info_of "$1" -r '.meta["kernel_unwind.differed"]' >different
	grep -q "^raw_syscalls:[^ ]* walked:.* do_syscall_64+.*; the kernel's:.*_64+" different ||
		fail "the stacks that differed are not in the recording: $(cat different)"
	"$STACKONCE" stacks --json "$1" 2>warnings | jq -c '[.frames[] | .sym]' |
		sort -u >spoilt.stacks
	grep -q "kernel stacks of raw_syscalls:sys_enter from [1-9].* are not verified" warnings ||
		fail "stacks does not say which stacks are not verified: $(cat warnings)"
}

# Spoils a rule: no stack that it spoils is in the recording.
spoil_rule()
{
	events=1
	# shellcheck disable=SC2016,SC2086 # variables of that shell; an option and its value
	"$STACKONCE" record $roomy --no-user-stacks -o spoilt.stk -e raw_syscalls:sys_enter \
		--filter 'id == 110' -- sh -c '"$1/getppid" 200 &&
		"$1/walk_spoil" $PPID do_syscall_64 && "$1/getppid" "$2"' sh "$PROG" "$calls" \
		>out 2>err || fail "$(cat out err)"
	want_noticed spoilt.stk
	cmp -s kernel.stacks spoilt.stacks ||
		fail "a wrong stack is in the recording: $(cat spoilt.stacks)"
	rule=$unverified
}
rule=none
[ "$by" != orc ] || spoil_rule

# Spoils the remembered stack ids of a CPU: one of the next 1,024 remembered stacks is checked.
# Where a program is called from depends on whether it is alone at its tracepoint, and each place
# has ids of its own: an ftrace event keeps it from being alone.
new_instance
for e in sys_enter sys_exit; do
	echo 1 >"$instance/events/raw_syscalls/$e/enable" || fail "$e cannot be enabled"
done
echo 0 >"$instance/tracing_on"
events=2
# shellcheck disable=SC2016,SC2086 # variables of that shell; an option and its value
"$STACKONCE" record $roomy --no-user-stacks -o memo.stk -e raw_syscalls:sys_enter \
	--filter 'id == 110' -e raw_syscalls:sys_exit --filter 'id == 110' -- taskset 1 sh -c '
	"$1/getppid" 2000 && "$1/walk_spoil" $PPID && "$1/getppid" "$2"' sh "$PROG" "$calls" \
	>out 2>err || fail "$(cat out err)"
want_noticed memo.stk
note "$(info_of orc.stk .kernel_unwind.walked) of $calls walked," \
	"$(info_of orc.stk .kernel_unwind.remembered) remembered;" \
	"not verified: with a wrong rule $rule, with wrong ids $unverified"
