#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stacks through callbacks: qsort, threads and their ends, atexit, constructors, the loader's
# resolver, signal handlers on any stack and at any instruction, coroutines, cancellation.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

alarms=$(scale 500 60 1500)
mkdir truth
export PROBE_DIR="$work/truth"
{
	until_loaded callbacks.stk ucallbacks \
		"'$user/ucallbacks' 0 '$user/libucallbacks.so' && echo >>short"
	until_loaded callbacks.stk ucallbacks_s "'$user/ucallbacks_s' 0 && echo >>short"
	echo "'$user/ucallbacks' $alarms '$user/libucallbacks.so' || exit 1"
	echo "'$user/ucallbacks_s' $alarms || exit 1"
} >all
# shellcheck disable=SC2086 # an option and its value
record $roomy -e syscalls:sys_enter_futex -o callbacks.stk -- sh all
want_user callbacks.stk
checked probes callbacks.stk truth
# Each program probes in every alarm.  The two runs of both programs have some 340 other probes.
at_least probes "$(number probes)" $((2 * alarms + 300 - $(info_of callbacks.stk .totals.lost)))
# A coroutine begins in code for which the C library has no unwind rules: two probes of each run.
want_complete "$(number probes)" "$(number incomplete)" "$(number unreadable)" \
	$((2 * ($(wc -l <short) + 2)))
at_most "without a stack" "$(number none)" 0
note "$(number probes) stacks, $(number frames) frames, 0 wrong"
