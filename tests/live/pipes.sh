#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings are written to pipes by record -o -, and read from pipes by every command with -.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
n=$(scale 5000 1000)

# The command's own output must not be part of the recording.
"$STACKONCE" record -q -o - -e $call -- sh -c "'$PROG/getppid' $n >&2" 2>/dev/null |
	"$STACKONCE" script - >script.out || fail "script - ended with $?"
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
"$STACKONCE" script file.stk | head -n 1 >/dev/null || fail "script | head failed"

# An existing output is kept as FILE.old.
cp file.stk first.stk
record -o file.stk -e $call -- "$PROG/getppid" 1
cmp first.stk file.stk.old || fail "file.stk.old is not the earlier recording"
note "$n events through a pipe"
