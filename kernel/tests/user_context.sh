# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=debug smp=2
# With context tracking, the kernel has events after an entry is over and before the next one has
# begun: they have no cookie, and all others have one stack.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance context
[ -e "$i/events/context_tracking" ] || fail "this kernel does not track contexts"
echo 16384 >"$i/buffer_size_kb"
events "$i" context_tracking/user_enter context_tracking/user_exit
getppid_on
"$prog" chain 500 >"$OUT/said" || fail "chain"
"$prog" threads 4 200 || fail "threads"
getppid_off
tracing_off "$i"
cat "$i/trace" >"$OUT/trace"
grep -q ' user_enter: ' "$OUT/trace" || fail "no event of context tracking"
check_cookies "$OUT/trace" >"$OUT/count" || {
	cat "$OUT/count"
	fail "cookies"
}
frames_of "$OUT/trace" >"$OUT/frames"
compare_chain "$OUT/said" "$OUT/frames"
# An event of context tracking with a cookie would be one more.
grep -q '^1300 events, 1300 cookies, 1300 user stacks, 0 open, 0 missing, 0 orphans' \
	"$OUT/count" || fail "1300 entries: $(cat "$OUT/count")"
rmdir "$i" || fail "rmdir"
note "$(tail -n 1 "$OUT/count")"
