# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=all smp=2
# User stacks have the offsets that the program prints, with its path and build id; they are the
# same from two processes and at two load addresses.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance offsets
getppid_on
"$prog" chain 3 >"$OUT/said" || fail "user_prog chain"
"$prog" chain 1 >"$OUT/said2" || fail "user_prog chain"
getppid_off
cat "$i/trace" >"$OUT/trace"
cat "$i/user_stack_map" >"$OUT/map"
cat "$i/user_stack_map_stat" >"$OUT/stat"
cat "$i/file_map" >"$OUT/file_map"
frames_of "$OUT/trace" >"$OUT/frames"
compare_chain "$OUT/said" "$OUT/frames"

hash=$(awk '{ print $5; exit }' "$OUT/frames")
want="$(sed -n 's/^path //p' "$OUT/said") $(sed -n 's/^build_id //p' "$OUT/said")"
[ "$(path_of "$hash" "$OUT/trace")" = "$want" ] ||
	fail "file_map event: '$(path_of "$hash" "$OUT/trace")', not '$want'"
grep -q "^hash=$hash path=${want% *} build_id=${want#* }$" "$OUT/file_map" || fail "file_map file"

# Four entries into the kernel, four cookies, one stack.
[ "$(awk '{ print $2 }' "$OUT/frames" | sort -u | wc -l)" = 4 ] || fail "not 4 cookies"
[ "$(awk '{ print $1 }' "$OUT/frames" | sort -u | wc -l)" = 2 ] || fail "not 2 processes"
grep -q '^entries: 1 /' "$OUT/stat" || fail "one stack in two processes: $(head -n 1 "$OUT/stat")"
grep -q '^successes: 4$' "$OUT/stat" || fail "$(grep successes "$OUT/stat")"
[ "$(grep -c 'file_map: ' "$OUT/trace")" = 1 ] || fail "more than one file_map event"
# The file event comes before the stack that refers to it.
awk '/file_map: / { seen = 1 } /<user stack unwind>/ && !seen { exit 1 }' "$OUT/trace" ||
	fail "stack before its file"
# What the task was doing, not what is done to write the event.
! grep '<user stack unwind>\|file_map: ' "$OUT/trace" | grep -v '\] [^ ]\{3\}[.]' ||
	fail "preemption is off in an event that a task writes on its way back"
rmdir "$i" || fail "rmdir"

# The text is mapped a second time, at another address.
user_instance copy
getppid_on
"$prog" copy >"$OUT/said-copy" || fail "user_prog copy"
getppid_off
grep -q '^moved 1$' "$OUT/said-copy" || fail "the copy did not move"
cat "$i/trace" >"$OUT/trace-copy"
frames_of "$OUT/trace-copy" >"$OUT/frames-copy"
compare_chain "$OUT/said-copy" "$OUT/frames-copy"
head -n 4 "$OUT/frames" | cut -d' ' -f4- >"$OUT/a"
head -n 4 "$OUT/frames-copy" | cut -d' ' -f4- >"$OUT/b"
cmp "$OUT/a" "$OUT/b" || fail "another load address, other frames"
rmdir "$i" || fail "rmdir"
echo "# $(wc -l <"$OUT/truth") frames of $(wc -l <"$OUT/truth") right, from two load addresses"
