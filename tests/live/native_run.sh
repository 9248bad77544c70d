#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The instructions that fill the records of events are accepted by this kernel's verifier and fill
# them as the kernel would, for every event of the table that the kernel has, by casts and by the
# helper.  Nothing is attached.  See tests/live/prog/native_run.c.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tracefs
rc=0
"$PROG/native_run" >"$work/out" 2>&1 || rc=$?
cat "$work/out"
[ "$rc" -ne 77 ] || skip "$(tail -n 1 "$work/out")"
[ "$rc" -eq 0 ] || fail "native_run ended with $rc"
