#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares event filters with the kernel's: we refuse those that it refuses, and those that it
# accepts select the same events.  See tests/live/prog/filter_same.c.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tracefs
rc=0
"$PROG/filter_same" 1 "$(scale 2000 1000 5000)" "$(scale 3 4 6)" >"$work/out" 2>&1 || rc=$?
cat "$work/out"
[ "$rc" -ne 77 ] || skip "$(tail -n 1 "$work/out")"
[ "$rc" -eq 0 ] || fail "filter_same ended with $rc"
note "$(tail -n 1 "$work/out")"
