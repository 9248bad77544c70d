#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program's futex address encodes the twenty functions of its call path: every frame of every
# event is right, in system calls, context switches and timer samples, however the program was
# compiled.  Each program first runs for short times until the recording shows that its table is
# loaded, because user_first.sh tests what happens before.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

wakes=$(scale 1000 200 3000) waits=$(scale 100 30 300)
burns=$(scale 20 4) walks=$(scale 10000 500 40000)
programs=0
for p in "$user"/ut_*; do
	[ -f "$p" ] || continue
	case $p in
	*musl*) ;; # musl has no unwind tables: see user_langs.sh
	*)
		programs=$((programs + 1))
		until_loaded truth.stk "${p##*/}" "'$p' . 5 5 1 5" >>all
		echo "\"$p\" . $wakes $waits $burns $walks || exit 1" >>rest
		;;
	esac
done
# afterwards two programs at a time
awk 'NR % 2' rest >odd
awk 'NR % 2 == 0' rest >even
cat >>all <<'END'
sh odd &
sh even && wait $!
END
# shellcheck disable=SC2086 # an option and its value
record $roomy -F "$(scale 1999 199)" -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex \
	-e sched:sched_switch -o truth.stk -- sh all
want_user truth.stk
checked paths truth.stk . ut_
[ "$(grep -c ' frames;' checked)" -eq "$programs" ] || {
	cat checked
	fail "not all of $programs programs are in the recording"
}
want_complete "$(number stacks)" "$(number incomplete)" "$(number unreadable)"
# There are two threads.  A call is two events, and a third one if it slept; a few may be lost on
# the edges.
n='\([0-9]*\)'
sed -n "s/.* $n in calls, $n switches in them, $n samples at a leaf.*/\1 \2 \3/p" checked >exact
[ "$(wc -l <exact)" -eq "$programs" ] || {
	cat checked
	fail "numbers of $(wc -l <exact) programs, not of $programs"
}
while read -r calls sleeps samples; do
	at_least "events in calls" "$calls" $(((wakes + waits + 2 * burns) * 4 - 100))
	# in an emulated machine a thread may be woken before it sleeps
	at_least "switches in calls" "$sleeps" "$(scale "$waits" $((waits / 5)))"
	at_least "samples at a leaf" "$samples" "$(scale 20 1)"
done <exact
frames=$(awk '/ frames;/ { n += $2 } END { print n }' checked)
note "$programs programs, $frames frames right, $(number unreadable) stacks cut at migrating pages"
