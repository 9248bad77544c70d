#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings are written to pipes by record -o -, and read from pipes by every command with -.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
n=$(scale 5000 1000)

# The command's own output must not be part of the recording.
{
	"$STACKONCE" record -q -o - -e $call -- sh -c "'$PROG/getppid' $n >&2" 2>record.err
	echo $? >rc
} | "$STACKONCE" script - >script.out || fail "script - ended with $?"
[ "$(cat rc)" -eq 0 ] || fail "record -o - ended with $(cat rc): $(cat record.err)"
calls='getppid-[0-9].*sys_enter_getppid\|getppid-[0-9].*sys_getppid'
[ "$(grep -c "$calls" script.out)" -eq "$n" ] ||
	fail "$(grep -c 'getppid-[0-9]' script.out) events came through the pipe, not $n"
grep -q '^ => ' script.out || fail "no stacks came through the pipe"

record -o file.stk -e $call -- "$PROG/getppid" "$n"
for c in info report stacks script; do
	"$STACKONCE" $c file.stk >$c.file || fail "$c FILE ended with $?"
	"$STACKONCE" $c - <file.stk >$c.stdin || fail "$c < FILE ended with $?"
	# shellcheck disable=SC2002 # the input must be a pipe
	cat file.stk | "$STACKONCE" $c - >$c.pipe || fail "$c - in a pipe ended with $?"
	[ -s $c.file ] || fail "$c prints nothing"
	cmp $c.stdin $c.pipe || fail "$c reads a pipe differently from a file"
done
cmp script.file script.pipe || fail "script reads a pipe differently from a named file"

# A reader that closes the pipe early is no error.
{
	"$STACKONCE" script file.stk
	echo $? >rc
} | head -n 1 >first || fail "head ended with $?"
[ -s first ] || fail "script | head prints nothing"
[ "$(cat rc)" -eq 0 ] || fail "script | head: script ended with $(cat rc)"

# While nobody reads the pipe, the recorder waits, but its rings are emptied nevertheless: natively,
# half of the calls are more than the rings and the pipe can hold.  Calls that are paced seldom fill
# a ring before it is emptied; numbered ones take room in the recording.
if [ "$(nproc)" -ge 2 ]; then
	many=$(scale 400000 5000)
	call=syscalls:sys_enter_dup
	set -- "$PROG/numbered" "$many" 200
	many=$((many * 2))
else
	many=$(scale 200000 10000)
	set -- "$PROG/getppid" "$many"
fi
{
	# shellcheck disable=SC2016 # variables of the other shell
	"$STACKONCE" record -q -o - --buffer-size 1M -e $call -- \
		sh -c '"$@" >&2; rc=$?; touch called; exit $rc' sh "$@" 2>record.err
	echo $? >rc
} | (until_true 60 test -e called && cat >slow.stk)
[ "$(cat rc)" -eq 0 ] || fail "record to a slow pipe ended with $(cat rc): $(cat record.err)"
[ "$(wc -c <slow.stk)" -gt 131072 ] || [ -n "${LIVE_VM:-}" ] || [ "$(nproc)" -eq 1 ] ||
	fail "the recording fits into a pipe: this tested nothing"
want_sum slow.stk
lost=$(info_of slow.stk .totals.lost)
[ "$(info_of slow.stk .totals.happened)" -ge "$many" ] || fail "not all of $many calls happened"
[ "$recorded" -gt $((many / 2)) ] || fail "$lost of $many events lost while nobody read the pipe"
note "$lost of $many events lost while nobody read the pipe"

# An existing output is kept as FILE.old.
cp file.stk first.stk
record -o file.stk -e syscalls:sys_enter_getppid -- "$PROG/getppid" 1
cmp first.stk file.stk.old || fail "file.stk.old is not the earlier recording"
note "$n events through a pipe"
