# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# A function with a return probe returns to the trampoline of uprobes: the stack has the caller.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

"$prog" entries >"$OUT/entries" || fail "entries"
user_instance uret
n=0
for offset in $(sed -n 's/^entry //p' "$OUT/entries"); do
	n=$((n + 1))
	echo "r:uret/r$n $prog:0x$offset" >>"$tracefs/uprobe_events" || skip "no uprobes"
	echo 1 >"$i/events/uret/r$n/enable"
done
getppid_on
# its return addresses are the trampoline's, which is in no file
"$prog" chain 1 >/dev/null 2>&1
getppid_off
echo 0 >"$i/events/enable"
cat "$i/trace" >"$OUT/trace"
grep -q ' r4: ' "$OUT/trace" || fail "the return probes are not hit"
frames_of "$OUT/trace" >"$OUT/frames"
# A run without probes tells the callers.
rmdir "$i" || fail "rmdir"
echo >"$tracefs/uprobe_events"
"$prog" chain 1 >"$OUT/said" || fail "chain"
compare_chain "$OUT/said" "$OUT/frames"
echo "# $n return probes, $(wc -l <"$OUT/truth") frames right"
