# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# Other forms: cookies without kernel stacks, user stacks in full where the map is full, and only
# one of the two options.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# Without kernel stacks, the cookie is in an event of its own.
user_instance forms
echo 0 >"$i/options/stacktrace"
getppid_on
"$prog" chain 2 >"$OUT/said" || fail "chain"
getppid_off
cat "$i/trace" >"$OUT/trace-none"
[ "$(grep -c '<stack_id 0 cookie=' "$OUT/trace-none")" = 2 ] || fail "no cookie without a stack"
frames_of "$OUT/trace-none" >"$OUT/frames-none"
compare_chain "$OUT/said" "$OUT/frames-none"

# Without stackmap, userstacktrace works as before.
echo 0 >"$i/options/stackmap"
echo >"$i/trace"
getppid_on
"$prog" chain >/dev/null || fail "chain"
getppid_off
cat "$i/trace" >"$OUT/trace-plain"
grep -q '<user stack trace>' "$OUT/trace-plain" || fail "no plain user stack"
! grep -q 'cookie=' "$OUT/trace-plain" || fail "a cookie without stackmap"
rmdir "$i" || fail "rmdir"

# With a full map, new stacks go to the ring buffer in full, nothing is lost, and the counters add
# up.
bits=/sys/module/ftrace_stackmap/parameters/bits
old=$(cat "$bits")
echo 10 >"$bits" || fail "bits"
user_instance full
echo "$old" >"$bits"
echo 8192 >"$i/buffer_size_kb"
echo 0 >"$i/options/stacktrace"
getppid_on
"$prog" many 4000 || fail "many"
getppid_off
cat "$i/trace" >"$OUT/trace-full"
cat "$i/user_stack_map_stat" >"$OUT/stat-full"
check_cookies "$OUT/trace-full" >"$OUT/count-full" || {
	cat "$OUT/count-full"
	fail "cookies"
}
grep -q '^4000 events, 4000 cookies, 4000 user stacks' "$OUT/count-full" || fail "not 4000"
awk '/^successes:|^fallback_/ { n += $2 } /^fallback_/ { f += $2 } /^asked:/ { a = $2 }
	END { exit !(a == 4000 && n == a && f > 1000) }' "$OUT/stat-full" || {
	cat "$OUT/stat-full"
	fail "does not add up"
}
# Each stack contains its address, in either form.
sed -n 's/^ => *<\([0-9a-f]*\)> : 0x00000000$/\1/p' "$OUT/trace-full" | sort -u >"$OUT/raw"
[ "$(wc -l <"$OUT/raw")" = 4000 ] || fail "$(wc -l <"$OUT/raw") addresses, not 4000"
rmdir "$i" || fail "rmdir"
echo "# $(tr '\n' ' ' <"$OUT/stat-full" | cut -c1-90)"
