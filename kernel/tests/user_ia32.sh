# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=debug smp=2
# The user stack of a 32 bit program has the frames that it prints.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_instance ia32
echo 1 >"$i/events/raw_syscalls/sys_enter/enable"
echo 1 >"$i/tracing_on"
"$TESTS/user_prog32" >"$OUT/said" || fail "no 32 bit programs"
tracing_off "$i"
# getppid has the number 64 there
sed 's/ sys_enter: NR 64 (/ sys_getppid(/' "$i/trace" >"$OUT/trace"
frames_of "$OUT/trace" >"$OUT/frames"
compare_chain "$OUT/said" "$OUT/frames"
hash=$(awk '{ print $5; exit }' "$OUT/frames")
path_of "$hash" "$OUT/trace" | grep -q "^$TESTS/user_prog32 " || fail "not its file"
rmdir "$i" || fail "rmdir"
note "$(wc -l <"$OUT/truth") frames right"
