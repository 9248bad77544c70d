# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# A function with a return probe returns to the trampoline of uprobes: the stack has the caller,
# also where the innermost of the probed functions has no frame.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

[ -e "$tracefs/uprobe_events" ] || skip "no uprobes"
"$prog" entries >"$OUT/entries" || fail "entries"
user_instance uret
n=0
for offset in $(sed -n 's/^entry //p' "$OUT/entries"); do
	n=$((n + 1))
	echo "r:uret/r$n $prog:0x$offset" >>"$tracefs/uprobe_events" || fail "r$n"
	echo 1 >"$i/events/uret/r$n/enable"
done
getppid_on
# their return addresses are the trampoline's, which is in no file
for kind in chain bare; do
	echo >"$i/trace"
	"$prog" $kind 1 >/dev/null 2>&1
	cat "$i/trace" >"$OUT/trace-$kind"
	frames_of "$OUT/trace-$kind" >"$OUT/frames-$kind"
done
getppid_off
echo 0 >"$i/events/enable"
grep -q ' r4: ' "$OUT/trace-chain" || fail "the return probes are not hit"
grep -q ' r5: ' "$OUT/trace-bare" || fail "the return probe without a frame is not hit"
# A run without probes tells the callers.
rmdir "$i" || fail "rmdir"
echo >"$tracefs/uprobe_events"
for kind in chain bare; do
	"$prog" $kind 1 >"$OUT/said" || fail "$kind"
	compare_chain "$OUT/said" "$OUT/frames-$kind"
	right="${right:-}$(wc -l <"$OUT/truth") "
done
echo "# $n return probes, ${right}frames right"
