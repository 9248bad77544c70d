#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Programs with wrong unwind tables or invalid stacks, and files that are damaged or truncated while
# they are in use: all events are recorded, the recorder survives, and the stacks of other programs
# are right.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

calls=$(scale 200 20 500)
mutants=$(scale 200 30 600)
mkdir mutants
"$user/mktag" "$user/libutag0.so" lib.so 1 || fail "mktag"
ln -s "$user/ut_nofp" ut_before || fail "ln"
# The copied stacks of so many new files may fill the rings; those of other programs are then lost,
# too.
cat >all <<END
"$user/uhostile" $calls || exit 1
"$user/umutant" $mutants mutants ./lib.so || exit 1
$(until_loaded hostile.stk ut_before './ut_before . 5 5 1 5')
"$user/ulongname" || exit 1
"$user/ut_nofp" . 100 20 2 100 || exit 1
END
record -F 199 -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex -e sched:sched_switch \
	-o hostile.stk -- sh all
want_user hostile.stk
cases=$(grep -c '^case ' record.out)
at_least cases "$cases" 50
lost=$(info_of hostile.stk .totals.lost)

# calls_of COMM: prints the address of each recorded call of the program.
calls_of()
{
	"$STACKONCE" script --json --event sys_enter_futex --comm "$1" hostile.stk |
		jq -r 'select(.type == "event").fields.uaddr'
}

calls_of uhostile | grep '^0x60' | sort | uniq -c >per_case # addresses of cases
awk -v cases="$cases" -v calls="$calls" -v lost="$lost" '
	{ n++; missing += calls - $1; wrong += $1 > calls }
	END { exit wrong || n > cases || missing + (cases - n) * calls > lost }' per_case || {
	cat per_case
	fail "not $calls calls in each of $cases cases, $lost lost"
}
[ "$(calls_of ulongname | wc -l)" -gt 0 ] || fail "no calls of a function with too long a name"
got=$(calls_of umutant | wc -l)
[ "$got" -ge $((mutants * 4 - lost)) ] ||
	fail "$got of $((mutants * 4)) calls of broken files, $lost lost"
checked paths hostile.stk . ut_
early=$(sed -n 's/^ut_before: .* \([0-9]* incomplete\),.*/\1/p' checked)
[ "$early" ] || fail "the recording has no stack of ut_before"
checked paths hostile.stk . ut_nofp
want_complete "$(number stacks)" "$(number incomplete)" "$(number unreadable)"
"$STACKONCE" script hostile.stk >script.txt || fail "the recording cannot be printed"
rc=0 # 1: files are missing
"$STACKONCE" symbolize -q -o named.stk hostile.stk >named.txt 2>named.err || rc=$?
{ [ "$rc" -le 1 ] && grep -q 'ulongname: left out names' named.err && [ -s named.stk ]; } ||
	fail "symbolize ended with $rc: $(cat named.err)"
note "$cases cases, $mutants broken files, $lost lost; another program: $early at first, then" \
	"$(number incomplete)"
