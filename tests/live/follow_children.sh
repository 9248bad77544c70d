#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A command is followed into its children and threads from its first instruction, and record exits
# with its status; -p follows new threads.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid

# One process tree: 15 processes, 10 calls each, status 7.
rc=0
"$STACKONCE" record -q -o tree.stk -e $call -- "$PROG/forktree" 3 2 10 7 >/dev/null || rc=$?
[ "$rc" -eq 7 ] || fail "the command ended with 7, record with $rc"
[ "$(counted tree.stk $call recorded)" -eq 150 ] ||
	fail "$(counted tree.stk $call recorded) of 150 calls recorded"
"$STACKONCE" script --json tree.stk | jq .pid | sort | uniq -c | awk '{ print $1 }' >per
[ "$(wc -l <per)" -eq 15 ] || fail "$(wc -l <per) processes instead of 15"
[ "$(sort -u per)" = 10 ] || fail "not every process has 10 calls"

# User stacks are recorded above; the programs for them take long to load.
plain=$(scale --no-user-stacks --no-user-stacks '')

# Threads.
# shellcheck disable=SC2086 # an option or nothing
record $plain -o threads.stk -e $call -- "$PROG/threads" 4 500
[ "$(counted threads.stk $call recorded)" -eq 2000 ] || fail "calls of the threads are missing"
[ "$("$STACKONCE" script --json threads.stk | jq .tid | sort -u | wc -l)" -eq 4 ] ||
	fail "events of not exactly 4 threads"
[ "$("$STACKONCE" script --json threads.stk | jq .pid | sort -u | wc -l)" -eq 1 ] ||
	fail "events of not exactly 1 process"

# The first system call of a program is the loader's brk.
# shellcheck disable=SC2086
record $plain -o first.stk -e raw_syscalls:sys_enter -- "$PROG/getppid" 1
first=$("$STACKONCE" script --json --comm getppid first.stk | jq .fields.id | head -n 1)
[ "$first" = 12 ] || fail "the first recorded system call is $first, not brk"

# A signal, and a command that does not exist.
rc=0
# shellcheck disable=SC2086
"$STACKONCE" record $plain -q -o signal.stk -e $call -- sh -c 'kill -TERM $$' 2>/dev/null || rc=$?
[ "$rc" -eq 143 ] || fail "record exited with $rc for a command ended by SIGTERM"
rc=0
# shellcheck disable=SC2086
"$STACKONCE" record $plain -q -o none.stk -e $call -- /no/such/command 2>err || rc=$?
[ "$rc" -ne 0 ] || fail "record exited with 0 for a command that does not exist"
[ -s err ] || fail "record printed no message for a command that does not exist"

# -p includes threads that start after the recorder.
mkfifo go
"$PROG/threads" 3 700 1 <go >/dev/null &
target=$!
test_pids="$test_pids $target"
exec 9>go
record_bg -p "$target" -o pid.stk -e $call -e sched:sched_switch
echo go >&9
exec 9>&-
wait "$target"
kill -INT "$recorder" 2>/dev/null
wait "$recorder" || fail "record -p ended with $?"
[ "$(counted pid.stk $call recorded)" -eq 2100 ] ||
	fail "-p: $(counted pid.stk $call recorded) of 2100 calls"
note "15 processes, 4 threads, 3 threads of a running process"
