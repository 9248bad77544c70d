#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# User stacks walked with what is remembered of others are those walked with nothing remembered,
# stacks that recur are not walked again, and the verifier does not follow more instructions for it
# than planned.  See tests/live/prog/user_walk.c.  Nothing is attached.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

verified=220000 # two thirds as many where the kernel's memory can be read without a helper

"$PROG/user_walk" "$(scale 5000 500 20000)" >"$work/out" 2>&1 || {
	cat "$work/out"
	fail "user_walk failed"
}
cat "$work/out"
nr=$(sed -n 's/^walk: \([0-9]*\) instructions verified.*/\1/p' "$work/out")
[ -n "$nr" ] || fail "the number of verified instructions is missing"
# 0: a kernel before 5.16 does not tell
[ "$nr" -le "$verified" ] || fail "$nr instructions verified, at most $verified expected"
grep -q 'read in place' "$work/out" && how='read in place, too' || how='only copied'
note "$nr instructions verified, memory $how"
