#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every kernel frame of known system calls has a name, and the recording has the kernel's KASLR
# offset.  The recording is kept: tests/vm compares those of two boots with different offsets.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

record --no-user-stacks -o kaslr.stk -e raw_syscalls:sys_enter -e sched:sched_process_fork -- \
	"$PROG/forktree" 2 2 50
want_sum kaslr.stk
"$STACKONCE" stacks --json kaslr.stk | jq -r '.frames[] | .sym' >syms
[ -s syms ] || fail "the recording has no frames"
grep -q '^null$' syms && fail "$(grep -c '^null$' syms) of $(wc -l <syms) frames have no name"
for s in do_syscall_64 entry_SYSCALL_64_after_hwframe kernel_clone; do
	grep -qx "$s" syms || fail "no frame is in $s"
done
base=$(awk '$3 == "_stext" { print $1; exit }' /proc/kallsyms)
meta=$(info_of kaslr.stk -r '.meta["kernel.kaslr_offset"] // empty')
[ -n "$meta" ] || fail "the recording does not have the kernel's offset"
note "text at $base, offset $meta"
if [ -n "${LIVE_OUT:-}" ]; then
	mkdir -p "$LIVE_OUT/keep"
	cp kaslr.stk "$LIVE_OUT/keep/"
fi
