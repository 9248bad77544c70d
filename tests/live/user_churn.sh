#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Libraries of one size replace each other at one address: they are opened and closed, mapped over
# one another, moved, made writable, and replaced by memory without a file.  No frame is attributed
# to the wrong library.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

rounds=$(scale 1500 150 4000)
for s in 0 1 2; do
	"$user/mktag" "$user/libutag$s.so" lib$s.so $((s + 1)) || fail "mktag"
	echo "$((s + 1)) $work/lib$s.so"
done >list
echo "9 -" >>list
record -e syscalls:sys_enter_futex -o churn.stk -- \
	"$user/uchurn" "$rounds" 9 ./lib0.so ./lib1.so ./lib2.so
at_least "libraries at one address" "$(sed -n 's/^same_place //p' record.out)" $((rounds / 2))
want_user churn.stk
checked tags churn.stk list
lost=$(info_of churn.stk .totals.lost)
at_least events "$(number events)" $((rounds * 9 - lost))
at_least "frames of the right file" "$(number right)" $((rounds * 7 - lost))
at_most "without a stack" "$(number none)" 0
note "$(number right) stacks of the right library, $(number unknown) of no file or unknown, 0 wrong"
