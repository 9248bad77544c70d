#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Random stacks equal those that the C library's backtrace() finds at the same moment, address for
# address; only stacks deeper than 127 frames may be cut.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

n=$(scale 4000 700 10000)
mkdir truth
export PROBE_DIR="$work/truth"
cat >all <<END
"$user/urandom" 20 1 && "$user/urandom_s" 20 1 || exit 1
sleep 0.5
"$user/urandom" $n $$ || exit 1
"$user/urandom_s" $n $(($$ + 1)) || exit 1
END
record -e syscalls:sys_enter_futex -o random.stk -- sh all
want_user random.stk
checked probes random.stk truth
at_least probes "$(number probes)" "$((2 * n + 200 - $(info_of random.stk .totals.lost)))"
at_least "frames compared" "$(number by_backtrace)" $((n * 50))
# A deferred stack, at the first event of a file, may be copied only in part.  The programs have 120
# probes before the pause.
deferred=$(info_of random.stk .user_stacks.deferred)
at_most deferred "$deferred" 120
want_complete "$(number probes)" "$(number incomplete)" "$(number unreadable)" "$deferred"
at_most "without a stack" "$(number none)" 0
note "$(number probes) stacks, $(number frames) frames, 0 wrong"
