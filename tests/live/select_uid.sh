#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# -u records exactly the tasks with one of the real user ids, by number and by name.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
name=$(awk -F : '$3 == 2 { print $1; exit }' /etc/passwd 2>/dev/null)

# Without another user: the ids are read at all.
for uid in 0 4242; do
	record --no-user-stacks -u $uid -o one.stk -e $call -- "$PROG/getppid" 100
	want_sum one.stk
	[ "$(counted one.stk $call recorded)" -eq $((uid ? 0 : 100)) ] ||
		fail "-u $uid: $(counted one.stk $call recorded) calls of user 0 recorded"
done
setpriv --reuid 4242 true 2>/dev/null || skip "setpriv cannot change the user id here"

cat >users <<-EOF
	$PROG/getppid 10
	setpriv --reuid 4242 $PROG/getppid 101
	setpriv --ruid 4242 $PROG/getppid 202
	setpriv --euid 4242 $PROG/getppid 303
	setpriv --reuid 2 $PROG/getppid 404
	setpriv --reuid 4242 $PROG/forktree 3 2 10
EOF
chmod 755 "$work"
record --no-user-stacks -u "4242,${name:-2}" -o uid.stk -e $call -e sched:sched_switch -- \
	sh users
want_sum uid.stk
calls=$((101 + 202 + 404 + 150))
[ "$(counted uid.stk $call recorded)" -eq "$calls" ] ||
	fail "$(counted uid.stk $call recorded) instead of $calls calls recorded"
out=$(info_of uid.stk --arg e $call '.events[] | select(.name == $e) | .filtered_by.uid')
# A shell may call getppid() once when it starts.
{ [ "$out" -ge 313 ] && [ "$out" -le 314 ]; } ||
	fail "$out instead of 313 calls of another user filtered"

# A switch to a task that has ended and is reaped already is one of its events, too.
comm=ft$$
cp "$PROG/forktree" $comm
watch_switches $comm
# Threads of the recorder switch to them, too.
record --no-user-stacks -a --include-self -u 4242 -o last.stk -e sched:sched_switch -- \
	setpriv --reuid 4242 ./$comm 3 2 1
want_sum last.stk
"$STACKONCE" script --json last.stk >last.json
jq -rs --arg c $comm '
	([.[].fields | select(.prev_comm == $c) | .prev_pid] | unique | length) as $off |
	([.[].fields | select(.prev_comm == $c)] | length) as $outs |
	([.[].fields | select(.next_comm == $c)] | length) as $ins |
	"\($off) \($outs) \($ins)"' last.json >numbers
read -r tasks off on <numbers
[ "$tasks" -eq 15 ] || fail "$tasks instead of 15 tasks left the CPU"
missing_from last.stk # for the log: a switch that is missing below may be one that was lost
want_switches $comm "$off" "$on"

rc=0
"$STACKONCE" record -q -u nosuchuser -d 1 2>err || rc=$?
{ [ "$rc" -eq 2 ] && grep -q "no user 'nosuchuser'" err; } ||
	fail "an unknown user: $rc, $(cat err)"
note "$calls calls of two users recorded, $out of others filtered"
