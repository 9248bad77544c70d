#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A recording of two processes that switch on one CPU, system-wide, has at most 8 bytes per event.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

record_bg -a -o small.stk -e sched:sched_switch
"$PROG/pingpong" "$(scale 200000 40000)" 0 >/dev/null
stop_recorder
want_sum small.stk
bytes=$(info_of small.stk .bytes_per_event)
[ "$(info_of small.stk .totals.recorded)" -ge "$(scale 100000 20000)" ] ||
	fail "only $(info_of small.stk .totals.recorded) events were recorded"
[ "$(info_of small.stk .bytes)" -eq "$(wc -c <small.stk)" ] || fail "info has a wrong file size"
info_true small.stk '(.bytes / .totals.recorded - .bytes_per_event) | fabs < 0.01' ||
	fail "bytes_per_event is not bytes / recorded"
info_true small.stk '.bytes_per_event <= 8' || fail "$bytes bytes per event"
note "$bytes bytes per event, $(info_of small.stk .totals.recorded) events"
