#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# N known calls of a program are N events: by system call, by filter and by fork.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

n=$(scale 100000 10000)

# want WHAT NUMBER WANTED
want()
{
	[ "$2" -eq "$3" ] || fail "$1: $2 instead of $3"
}

# want_all WHAT FILE EVENT: all N calls of the command were recorded or lost.
want_all()
{
	want_calls "$1" "$n" "$(counted "$2" "$3" recorded)" "$(counted "$2" "$3" lost)" \
		"$(edge_of "$2" "$3")"
}

record -o call.stk -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid -- \
	"$PROG/getppid" "$n"
want_sum call.stk
for e in syscalls:sys_enter_getppid syscalls:sys_exit_getppid; do
	want_all "$e" call.stk $e
done
want "sys_enter_getppid in script" \
	"$(printed call.stk --event syscalls:sys_enter_getppid --comm getppid)" \
	"$(counted call.stk syscalls:sys_enter_getppid recorded)"

# User stacks are recorded above; an emulated machine takes seconds to load the programs for them.
plain=$(scale '' --no-user-stacks)
# shellcheck disable=SC2086 # an option or nothing
record $plain -o filter.stk -e raw_syscalls:sys_enter --filter 'id == 110' -- "$PROG/getppid" "$n"
want_sum filter.stk
want_all "id == 110" filter.stk raw_syscalls:sys_enter
[ "$("$STACKONCE" script --json filter.stk | jq -r 'select(.type != "loss") | .fields.id' |
	sort -u)" = 110 ] ||
	fail "the filter did not exclude other system calls"

# shellcheck disable=SC2086
record $plain -o fork.stk -e sched:sched_process_fork -- "$PROG/forktree" 3 2 1
want_sum fork.stk
want "forks" "$(counted fork.stk sched:sched_process_fork recorded)" 14
note "$n calls, $(counted call.stk syscalls:sys_enter_getppid lost) of them lost"
