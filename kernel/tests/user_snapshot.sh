# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug smp=2
# timeout: 240
# Snapshots: the ids, the user stacks and the paths of what was swapped out are those of the trace
# before, the files are written again after the swap, and a reset empties both ring buffers.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance snapshot
[ -e "$i/snapshot" ] || skip "no snapshots"
getppid_on
"$prog" chain 5 >"$OUT/said" || fail "chain"
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/before"
echo 1 >"$i/snapshot" || fail "snapshot"
cat "$i/snapshot" >"$OUT/swapped"
frames_of "$OUT/before" >"$OUT/frames-before"
frames_of "$OUT/swapped" >"$OUT/frames-swapped"
cmp "$OUT/frames-before" "$OUT/frames-swapped" || fail "other frames in the snapshot"
compare_chain "$OUT/said" "$OUT/frames-swapped"
hash=$(awk '{ print $5; exit }' "$OUT/frames-swapped")
[ "$(path_of "$hash" "$OUT/swapped" | cut -d' ' -f1)" = "$prog" ] || fail "path in the snapshot"

echo 1 >"$i/tracing_on"
"$prog" chain 2 >/dev/null || fail "chain"
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/after"
frames_of "$OUT/after" >"$OUT/frames-after"
compare_chain "$OUT/said" "$OUT/frames-after"
[ "$(path_of "$hash" "$OUT/after" | cut -d' ' -f1)" = "$prog" ] || fail "no path after the swap"

getppid_off
echo 0 >"$i/stack_map" || fail "reset"
! grep -q stack_id "$i/snapshot" || fail "ids in the snapshot after a reset"
! grep -q stack_id "$i/trace" || fail "ids after a reset"
rmdir "$i" || fail "rmdir"
echo "# $(wc -l <"$OUT/frames-swapped") frames in the snapshot"
