# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# A frame pointer that is data, and happens to be an address in a file mapping: no memory is taken
# for a hole of the file, and the stack that ends there is marked.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance hole
getppid_on
"$prog" hole 5 >"$OUT/said" || fail "user_prog hole"
getppid_off
cat "$i/trace" >"$OUT/trace"
cat "$i/user_stack_map" >"$OUT/map"
frames_of "$OUT/trace" >"$OUT/frames"
[ "$(awk '{ print $2 }' "$OUT/frames" | sort -u | wc -l)" = 5 ] || fail "not five stacks"
[ "$(grep -c ' frame ' "$OUT/frames")" = 5 ] || fail "not one frame each"
grep -q '^blocks 0$' "$OUT/said" || fail "the file has got memory: $(xargs <"$OUT/said")"
grep -q '^read [1-9]' "$OUT/said" || fail "it would not get any: $(xargs <"$OUT/said")"
grep -q 'depth 1, truncated\]$' "$OUT/map" || fail "the stack is not marked"
rmdir "$i" || fail "rmdir"
note "$(xargs <"$OUT/said")"
