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
for p in urandom urandom_s; do
	until_loaded random.stk $p "'$user/$p' 20 1 && echo >>short" >>all
done
cat >>all <<END
"$user/urandom" $n $$ || exit 1
"$user/urandom_s" $n $(($$ + 1)) || exit 1
END
record -e syscalls:sys_enter_futex -o random.stk -- sh all
want_user random.stk
checked probes random.stk truth
early=$((60 * $(wc -l <short)))
at_least probes "$(number probes)" "$((2 * n + 80 + early - $(info_of random.stk .totals.lost)))"
at_least "frames compared" "$(number by_backtrace)" $((n * 50))
# A deferred stack, at the first event of a file, may be copied only in part.  The programs have 60
# probes in each round before their tables are loaded.
deferred=$(info_of random.stk .user_stacks.deferred)
at_most deferred "$deferred" "$early"
want_complete "$(number probes)" "$(number incomplete)" "$(number unreadable)" "$deferred"
at_most "without a stack" "$(number none)" 0
note "$(number probes) stacks, $(number frames) frames, 0 wrong"
