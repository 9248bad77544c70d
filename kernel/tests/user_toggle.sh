# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug,kcsan,rt smp=2
# timeout: 300
# The options are switched in all orders while tasks are traced: nothing is torn, each cookie has at
# most one stack, and at the end the memory of the maps is given back.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# Areas of memory that belong to stack maps
areas()
{
	grep -c 'stackmap_alloc' /proc/vmallocinfo || true
}

before=$(areas)
user_instance toggle
echo 8192 >"$i/buffer_size_kb"
[ "$(areas)" -gt "$before" ] || fail "a map takes no memory"
user_pair "syscalls sched" spin 600
rounds=0
end=$(($(date +%s) + 12))
while [ $rounds -lt 5 ] || { [ $rounds -lt 60 ] && [ "$(date +%s)" -lt "$end" ]; }; do
	for o in stackmap userstacktrace stacktrace overwrite stackmap userstacktrace; do
		v=$(cat "$i/options/$o")
		echo $((1 - v)) >"$i/options/$o" || fail "option $o"
	done
	case $((rounds % 3)) in
	0)
		echo 0 >"$i/tracing_on"
		echo 0 >"$i/stack_map" || fail "reset"
		echo 1 >"$i/tracing_on"
		;;
	1) echo 1 >"$i/file_map" 2>/dev/null ;;
	esac
	rounds=$((rounds + 1))
	kill -0 "$one" "$two" || fail "a traced task has ended in round $rounds"
done
echo 0 >"$i/events/enable"
kill "$one" "$two"
wait
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
sed -n 's/^cookie=\([0-9a-f]*\)$/\1/p' "$OUT/trace" | sort | uniq -d >"$OUT/twice"
[ ! -s "$OUT/twice" ] || fail "two user stacks of $(head -n 1 "$OUT/twice")"

for o in stackmap userstacktrace stacktrace; do
	echo 0 >"$i/options/$o"
done
[ "$(areas)" -gt "$before" ] || fail "the maps are gone while there are ids"
echo >"$i/trace"
echo 0 >"$i/stack_map" || fail "reset"
[ "$(areas)" = "$before" ] || fail "$(areas) areas of memory, $before before"
# and they come again
echo 1 >"$i/options/stackmap"
echo 1 >"$i/options/userstacktrace"
echo 1 >"$i/options/stacktrace"
getppid_on
"$prog" chain 2 >"$OUT/said" || fail "chain"
getppid_off
cat "$i/trace" >"$OUT/trace-again"
frames_of "$OUT/trace-again" >"$OUT/frames-again"
compare_chain "$OUT/said" "$OUT/frames-again"
rmdir "$i" || fail "rmdir"
echo "# $rounds rounds of switching"
