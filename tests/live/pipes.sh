#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording goes through a pipe: record -o - and every reading command with -.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
n=$(scale 5000 1000)

# The command's own output must not get into the recording.
"$STACKONCE" record -q -o - -e $call -- sh -c "'$PROG/getppid' $n >&2" 2>/dev/null |
	"$STACKONCE" script - >script.out || fail "script - ended with $?"
[ "$(grep -c 'getppid-[0-9].*sys_enter_getppid\|getppid-[0-9].*sys_getppid' script.out)" -eq "$n" ] ||
	fail "$(grep -c 'getppid-[0-9]' script.out) events came through the pipe, not $n"
grep -q '^ => ' script.out || fail "no stacks came through the pipe"

record -o file.stk -e $call -- "$PROG/getppid" "$n"
for c in info report stacks script; do
	"$STACKONCE" $c file.stk >$c.file || fail "$c FILE ended with $?"
	"$STACKONCE" $c - <file.stk >$c.stdin || fail "$c < FILE ended with $?"
	# shellcheck disable=SC2002 # a pipe is what is tested
	cat file.stk | "$STACKONCE" $c - >$c.pipe || fail "$c - in a pipe ended with $?"
	[ -s $c.file ] || fail "$c prints nothing"
	cmp $c.stdin $c.pipe || fail "$c reads a pipe differently from a file"
done
cmp script.file script.pipe || fail "script reads a pipe differently from a named file"

# A reader that leaves early is no error.
"$STACKONCE" script file.stk | head -n 1 >/dev/null || fail "script | head"

# An existing output is kept as FILE.old.
cp file.stk first.stk
record -o file.stk -e $call -- "$PROG/getppid" 1
cmp first.stk file.stk.old || fail "the earlier recording is not file.stk.old"
note "$n events through a pipe"
