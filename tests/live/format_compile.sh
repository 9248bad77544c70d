#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every event format of this kernel parses, and all but a few print fmts compile; the others are
# listed, with the reason.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tracefs
"$PROG/format_compile" 12 >"$work/out" || {
	cat "$work/out"
	fail "print fmts do not compile"
}
sed 's/^/# /' "$work/out"
