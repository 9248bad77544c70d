#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Up to 2,000 short-lived programs a second are continually replaced by others of the same name and
# size: the file of a frame is right, or unknown, even if the process exits before the recorder can
# look.  Then one process executes one program after another, all of them at the same addresses.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

mkdir storm
for s in 0 1 2; do
	"$user/mktag" "$user/utagged_s$s" become$s $((s + 1)) || fail "mktag"
	echo "$((s + 1)) $work/become$s" >>list
done
again=$(scale 300 60 900)
next=
for i in $(seq 1 "$again"); do
	next="$next ./become$((i % 3))"
done
cat >all <<END
"$user/ustorm" storm "$(scale 4 4 10)" 2000 "$user/utiny0" "$user/utiny1" "$user/utiny2" || exit 1
./become0 2 - 0 $next || exit 1
END
record -e syscalls:sys_enter_futex -o storm.stk -- sh all
cat storm/list >>list
want_user storm.stk
checked tags storm.stk list
programs=$(($(sed -n 's/^programs //p' record.out) + $again * 2))
at_least events "$(number events)" $((programs - $(info_of storm.stk .totals.lost)))
at_most "without a stack" "$(number none)" 0
# Files of processes that exited too soon may stay unknown, as long as they are marked as such.
at_least "files known" "$(($(number right) + $(number unverified)))" $((programs * 9 / 10))
note "$(sed -n 's/^per_second //p' record.out) programs a second, $(number files_seen) files;" \
	"$(number right) right, $(number unverified) without build id," \
	"$(number unknown) unknown, 0 wrong"
