#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The rings overflow, and the recorder is stopped now and then: where numbered calls are missing,
# the recording has a loss, also when it is read from a pipe; and no call is missing where it has
# none.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

calls=$(scale 300000 20000)
record_bg -a --buffer-size 16k -e syscalls:sys_enter_dup,sched:sched_switch -o lossy.stk
# The rings are full when the recorder goes on for the first time, and empty when the last calls
# begin: each thread has calls that are recorded after others that are not.
# The shell of the machines gives up an open(2) that waits for the other end when a child stops:
# opened for both, a fifo does not wait.
mkfifo go
exec 9<>go
kill -STOP "$recorder"
"$PROG/numbered" "$calls" 1000 0 1000 <go >numbered 9>&- &
load=$!
test_pids="$test_pids $load"
until_true 60 test -s numbered || fail "the program made no calls"
kill -CONT "$recorder"
for _ in 1 2 3; do
	sleep 0.3
	kill -STOP "$recorder"
	sleep 0.1
	kill -CONT "$recorder"
done
while_runs "$load" info_true lossy.stk '.totals.lost_by.ring > 0' ||
	fail "the recording has no loss: $(info_of lossy.stk -c .totals)"
exec 9>&-
wait "$load" || fail "the program that makes the calls failed"
stop_recorder
want_sum lossy.stk
pid=$(sed -n 's/^pid //p' numbered)
"$PROG/numbered_check" lossy.stk "$pid" >checked || {
	cat checked
	fail "losses are not where they happened"
}
# shellcheck disable=SC2002 # the input must be a pipe
cat lossy.stk | "$PROG/numbered_check" - "$pid" >piped || {
	cat piped
	fail "losses are not known in time when the input is a pipe"
}
cmp -s checked piped || fail "a file and a pipe differ: $(cat checked) and $(cat piped)"
note "$(cat checked)"
