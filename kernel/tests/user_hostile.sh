# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# Invalid frame pointers: loops, downwards, unaligned, non-canonical, into the kernel, unmapped, too
# deep; and frames that are not in memory and have to be paged in.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance hostile
getppid_on
for kind in loop down unaligned noncanonical kernel edge unmapped kernel_return deep away; do
	echo >"$i/trace"
	"$prog" hostile $kind >"$OUT/said-$kind" || fail "user_prog hostile $kind"
	cat "$i/trace" >"$OUT/trace-$kind"
	frames_of "$OUT/trace-$kind" >"$OUT/frames-$kind"
	found=$(grep -c frame "$OUT/frames-$kind")
	[ "frames $found" = "$(cat "$OUT/said-$kind")" ] ||
		fail "$kind: $found frames, not $(cat "$OUT/said-$kind")"
done
grep -q 'depth 128, truncated\]$' "$i/user_stack_map" ||
	fail "a stack cut at 128 frames is not marked"
[ "$(grep -c truncated "$i/user_stack_map")" = 1 ] || fail "other stacks are marked as truncated"
getppid_off
rmdir "$i" || fail "rmdir"
