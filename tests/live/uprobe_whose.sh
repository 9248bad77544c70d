#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes in programs belong to a file: whose calls are recorded, by -p, by COMMAND and of the whole
# system, by two recorders at once, is as with all events.
# shellcheck disable=SC2086 # $roomy is an option and its value
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

# a copy: another test may be calling the same functions
cp "$PROG/probed" probed || exit 1
p=$work/probed
calls=$(scale 1000 100) threads=2
all=$((calls * threads))

# want_leaf FILE NUMBER: of leaf
want_leaf()
{
	want_user "$1"
	n=$(counted "$1" "u:$p:leaf" recorded)
	[ "$n" -eq "$2" ] || fail "$1: $n recorded, $2 expected"
	n=$(counted "$1" "u:$p:leaf" lost)
	[ "$n" -eq 0 ] || fail "$1: $n lost"
}

# Two processes that begin when their standard input ends.
start()
{
	mkfifo "$1"
	"$p" "$calls" "$threads" wait <"$1" >/dev/null &
	started=$!
	test_pids="$test_pids $started"
}
start one
one=$started
start other
other=$started
exec 3>one 4>other

# That of one process, by its pid; of both, by a recorder of the whole system beside it.
"$STACKONCE" record $roomy -q -a --user-stacks -o both.stk -e "u:$p:leaf" -e syscalls:sys_enter_getppid \
	2>both.err 3>&- 4>&- &
both=$!
"$STACKONCE" record $roomy -q -p "$one" -o one.stk -e "u:$p:leaf" -e syscalls:sys_enter_getppid \
	2>one.err 3>&- 4>&- &
recorder=$!
test_pids="$test_pids $both $recorder"
for f in both one; do
	until info_true $f.stk '.totals.happened > 0' 2>/dev/null; do
		{ is_child "$both" && is_child "$recorder"; } ||
			fail "a recorder ended: $(cat both.err one.err)"
		"$PROG/getppid" 10 >/dev/null
		sleep 0.1
	done
done
exec 3>&- 4>&-
wait "$one" || fail "the program failed"
wait "$other" || fail "the program failed"
wait "$recorder" || {
	cat one.err
	fail "the recorder of one process failed"
}
kill -INT "$both"
wait "$both" || {
	cat both.err
	fail "the recorder of the system failed"
}
want_leaf one.stk "$all"
want_leaf both.stk $((2 * all))
"$STACKONCE" script --json --event 'u:*' one.stk | jq -e -s "all(.pid == $one)" >/dev/null ||
	fail "events of others than the process"
[ "$("$STACKONCE" script --json --event 'u:*' both.stk | jq .pid | sort -u | wc -l)" -eq 2 ] ||
	fail "not both processes"

# Of a command; its children are its own.
record $roomy -o command.stk -e "u:$p:leaf" sh -c "\"$p\" $calls $threads & \"$p\" $calls $threads; wait"
want_leaf command.stk $((2 * all))

# Nothing of it stays in the program.
"$p" 10 1 >/dev/null || fail "the program fails when it is no longer probed"
