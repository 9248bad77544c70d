#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The unwind tables of the running programs do not fit into the memory budget: the recorder evicts
# tables, but every frame is right, or the stack is marked as incomplete.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

mkdir truth
export PROBE_DIR="$work/truth"
# Static programs have large tables: together they exceed the budget.
files=40
for i in $(seq 1 "$files"); do
	"$user/mktag" "$user/utagged_s$((i % 3))" "p$i" "$i" || fail "mktag"
	echo "$i $work/p$i" >>list
done
rounds=$(scale 2 1 5) randoms=$(scale 200 20)
for round in $(seq 1 "$rounds"); do
	for p in nofp fp static dl clang spie nopie; do
		cat <<END
"$user/ut_$p" . $(scale 500 60) 20 1 100 || exit 1
"$user/urandom_s" $randoms $round || exit 1
"$user/ucallbacks" 5 "$user/libucallbacks.so" || exit 1
END
	done
	# twice, because a program may exit before the recorder can open its file the first time
	seq 1 "$files" | sed 's/.*/.\/p& 5 || exit 1/'
	echo "sleep 1.5"
	seq 1 "$files" | sed 's/.*/.\/p& 5 || exit 1/'
done >all
record --unwind-memory 1M -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex \
	-e sched:sched_switch -o budget.stk -- sh all
want_user budget.stk
lost=$(info_of budget.stk .totals.lost)
checked tags budget.stk list
at_least "tagged events" "$(number events)" $((files * 10 * rounds - lost))
# the recorder can open each file before its second run
at_least "events of tagged files" "$(number right)" $((files * 5 * rounds - lost))
checked paths budget.stk . ut_
cp checked paths
grep -q '^ut_' paths || fail "no stack of the programs ut_* is in the recording"
checked probes budget.stk truth
# urandom_s has 40 probes more than asked for, ucallbacks about 94
at_least probes "$(number probes)" $((rounds * 7 * (randoms + 40 + 80) - lost))
info_true budget.stk '.user_stacks | .table_peak <= .budget and .evicted > 0' || {
	info_of budget.stk .user_stacks
	fail "no table was evicted, or the tables exceed the budget"
}
# A deferred stack is copied in part, or not at all where too many are pending.  A table that found
# no room is not tried again for 30 s.  Beside a load a table may stay in use for longer, more
# tables are refused, and the number of complete stacks depends on the timing.
enough='.stacks / 2'
[ -z "${LIVE_STRESS:-}" ] || enough=1
info_true budget.stk ".user_stacks | .ends.complete >= $enough" || {
	info_of budget.stk .user_stacks
	fail "too few stacks are complete"
}
note "$(info_of budget.stk .user_stacks.evicted) tables evicted, $(awk '/ frames;/ { n += $2 }
	END { print n }' paths) frames and $(number frames), 0 wrong; of $(info_of budget.stk -r \
	'.user_stacks | "\(.stacks) stacks \(.ends.complete) are complete"')"
