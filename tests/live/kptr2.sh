#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# With kernel.kptr_restrict=2 /proc/kallsyms has no addresses, but the recording has the names
# nevertheless, and the setting.
# alone: it sets kernel.kptr_restrict
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

setting=/proc/sys/kernel/kptr_restrict
before=$(cat $setting)
restore()
{
	echo "$before" >$setting
}
record --no-user-stacks -o open.stk -e raw_syscalls:sys_enter --filter 'id == 110' -- \
	"$PROG/getppid" 100
echo 2 >$setting || skip "kptr_restrict cannot be set"
record --no-user-stacks -o shut.stk -e raw_syscalls:sys_enter --filter 'id == 110' -- \
	"$PROG/getppid" 100
"$STACKONCE" record -q -o orc.stk --kernel-unwind orc -- true 2>err &&
	fail "--kernel-unwind orc is not refused"
grep -q 'kernel-unwind orc: kernel.kptr_restrict' err ||
	fail "the message does not name kernel.kptr_restrict: $(cat err)"
echo "$before" >$setting
info_true shut.stk '.kernel_unwind | .by == "kernel" and (.why | test("kptr_restrict"))' ||
	fail "info does not name kptr_restrict: $(info_of shut.stk .kernel_unwind)"
for f in open shut; do
	"$STACKONCE" stacks --json --top 1 $f.stk | jq -r '.frames[] | "\(.sym)+\(.off)"' >$f.frames
	[ -s $f.frames ] || fail "$f.stk has no frames"
done
grep -q '^null' open.frames && fail "frames have no name without kptr_restrict"
cmp open.frames shut.frames || {
	cat shut.frames
	fail "the names differ with kptr_restrict=2"
}
note "$(wc -l <shut.frames) frames have the same names"
