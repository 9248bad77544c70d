#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Probes in programs belong to a file, but the recorded calls are those of the selected tasks, as
# for all events: with -p, with COMMAND and system-wide, by two recorders at once.
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

# want_leaf FILE NUMBER: NUMBER calls of leaf were recorded
want_leaf()
{
	want_user "$1"
	n=$(counted "$1" "u:$p:leaf" recorded)
	[ "$n" -eq "$2" ] || fail "$1: $n recorded, $2 expected"
	n=$(counted "$1" "u:$p:leaf" lost)
	[ "$n" -eq 0 ] || fail "$1: $n lost"
}

# start NAME: starts a process that begins its calls when its standard input, the fifo NAME, ends.
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

# One recorder records one process by its PID, the other one records both, system-wide.  The calls
# of getppid only show that it is armed: it records none, because those of other programs may fill a
# ring.
"$STACKONCE" record $roomy -q -a --user-stacks -o both.stk -e "u:$p:leaf" \
	-e syscalls:sys_enter_getppid --filter 'comm == "nobody"' 2>both.err 3>&- 4>&- &
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
wait "$one" || fail "the probed program failed"
wait "$other" || fail "the probed program failed"
wait "$recorder" || {
	cat one.err
	fail "the recorder of one process failed"
}
kill -INT "$both"
wait "$both" || {
	cat both.err
	fail "the system-wide recorder failed"
}
want_leaf one.stk "$all"
want_leaf both.stk $((2 * all))
"$STACKONCE" script --json --event 'u:*' one.stk | jq -e -s "all(.pid == $one)" >/dev/null ||
	fail "record -p recorded events of other processes"
[ "$("$STACKONCE" script --json --event 'u:*' both.stk | jq .pid | sort -u | wc -l)" -eq 2 ] ||
	fail "the system-wide recording does not have events of exactly two processes"

# The children of a command are recorded.
record $roomy -o command.stk -e "u:$p:leaf" \
	sh -c "\"$p\" $calls $threads & \"$p\" $calls $threads; wait"
want_leaf command.stk $((2 * all))

# The program is as it was.
"$p" 10 1 >/dev/null || fail "the program fails when it is no longer probed"
