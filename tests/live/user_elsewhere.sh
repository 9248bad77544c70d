#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording is read where none of the recorded files exists: in an empty root that has only the
# command, it prints the same events, stacks and functions.  Moving a recorded file away changes
# nothing.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

mkdir root truth bin
cp "$user/ut_nofp" bin/
export PROBE_DIR="$work/truth"
programs="./bin/ut_nofp . 50 5 1 200"
[ ! -x "$user/uexcept" ] || programs="$programs; $user/uexcept 3"
record -F 99 -e syscalls:sys_enter_futex -e sched:sched_switch -o there.stk -- sh -c "$programs"
want_user there.stk

# The command and its libraries are in a directory of their own: no file of the recording is at its
# path.
loader=$(echo /lib*/ld-linux-x86-64.so.2 | cut -d ' ' -f 1)
[ -e "$loader" ] || skip "there is no $loader to run the command"
mkdir root/tool
cp -L "$loader" root/tool/ld.so
cp -L "$STACKONCE" root/tool/stackonce
"$loader" --list "$STACKONCE" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' | while read -r f; do
	cp -L "$f" root/tool/
done
cp there.stk root/there.stk

# reading COMMAND...: prints the recording in several ways with this stackonce command.
reading()
{
	for how in 'script --ns' 'script --json --stacks' 'script --ids' 'stacks --json' report \
		files; do
		echo "== $how"
		# shellcheck disable=SC2086 # words
		"$@" $how there.stk || return 1
	done
}
reading "$STACKONCE" >home.txt || fail "the recording cannot be read here"
mv bin gone
reading chroot root /tool/ld.so --library-path /tool /tool/stackonce >empty.txt 2>empty.err || {
	cat empty.err
	fail "the recording cannot be read in an empty root"
}
cmp -s home.txt empty.txt || {
	diff home.txt empty.txt | head -n 20
	fail "the output differs in an empty root"
}
grep -q 'f_20_[0-5]+0x' home.txt || fail "the output has no functions"
# Functions from the program's own symbol table, too.
"$STACKONCE" stacks --json there.stk |
	jq -r '.frames[] | select(.mod == "ut_nofp") | .sym' | sort -u >syms
grep -q '^null$' syms && fail "frames of the program have no function name"
[ "$(grep -c '^f_[0-9]*_[0-5]$' syms)" -ge 80 ] ||
	fail "only $(grep -c '^f_' syms) functions of the program"
note "$(wc -l <home.txt) lines equal, $(wc -l <syms) functions of the program"
