#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq have variables of their own
# With -p, wakeups of the process by other tasks are recorded with name and kernel stack, but not
# with the user stack of the waker, unless --waker-stacks is given.  System calls of other tasks are
# not recorded.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

n=$(scale 200 50)
mkfifo pipe back

# sleeps: the process waits for a line.  Otherwise, with one CPU, it may find the line without
# having slept, and nothing wakes it.
sleeps()
{
	read -r stat <"/proc/$target/stat" || return 1
	case ${stat##*) } in
	S*) return 0 ;;
	*) return 1 ;;
	esac
}

# wake OPTIONS...: records a process that waits for lines, which this shell writes, and answers them
wake()
{
	sh -c 'while read -r line; do echo "$line"; done' <pipe >back &
	target=$!
	test_pids="$test_pids $target"
	exec 9>pipe 8<back
	rm -f wake.stk # record_bg waits for a new one
	record_bg -p "$target" --preset futex -e sched:sched_switch -e syscalls:sys_enter_write \
		"$@" -o wake.stk 9>&- 8<&-
	for i in $(seq "$n"); do
		while_runs "$target" sleeps || fail "the process ended"
		echo "$i" >&9
		read -r line <&8
		[ "$line" = "$i" ] || fail "the answer to $i is $line"
	done
	exec 9>&- 8<&-
	wait "$target"
	kill -INT "$recorder" 2>/dev/null
	wait "$recorder" || fail "record -p ended with $?: $(cat record_bg.err)"
	"$STACKONCE" script --json --stacks wake.stk >wake.json || fail "script ended with $?"
}

# others FILTER: the number of wakeups by this shell, which is not selected, that match
others()
{
	jq -s --argjson me $$ '
		([.[] | select(.type == "stack") | { "\(.id)": . }] | add) as $stacks |
		[.[] | select(.event == "sched:sched_waking" and .pid == $me) |
		. + { u: $stacks["\(.ustack)"], k: $stacks["\(.kstack)"] } | select('"$1"')] |
		length' wake.json
}

wake
want_user wake.stk
all=$(others true)
[ "$all" -ge "$n" ] || fail "only $all wakeups by this shell in $n lines"
[ "$(others '.comm != "" and .k.depth > 3')" -eq "$all" ] || fail "wakers have no kernel stack"
without=$(others '.u.end == "not_recorded" and .u.depth == 0')
[ "$without" -eq "$all" ] || fail "$((all - without)) of $all wakers have a user stack"
info_true wake.stk --argjson n "$all" '.user_stacks.not_recorded >= $n' ||
	fail "info counts $(info_of wake.stk .user_stacks.not_recorded) of $all wakers"
"$STACKONCE" script --no-header wake.stk | grep -q '=> <stack not recorded (task not selected)>' ||
	fail "script does not say that a stack was not recorded"
writes=$(jq -s --argjson me $$ '[.[] | select(.event == "syscalls:sys_enter_write" and
	.pid == $me)] | length' wake.json)
[ "$writes" -eq 0 ] || fail "$writes system calls of this shell are recorded"
note "$all wakers without a user stack"

wake --waker-stacks
want_user wake.stk
all=$(others true)
[ "$all" -ge "$n" ] || fail "only $all wakeups by this shell in $n lines"
with=$(others '.u.depth > 0')
[ "$with" -eq "$all" ] || fail "--waker-stacks: $((all - with)) of $all wakers have no user stack"
info_true wake.stk '.user_stacks.not_recorded == 0' || fail "--waker-stacks omits stacks"
note "$all wakers with a user stack"
