# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,kcsan smp=2 alone
# timeout: 300
# Flight recorder: when the ring buffer has been overwritten ten times, each frame in it still has
# its path, in the ring buffer itself and in a dump on the console (sysrq-z); also after the size of
# the sub-buffers was changed, and while a file that is not used any more has stacks there.  More
# files than there is room for leave room for stacks.  Where no stack comes for which a path could
# be written again, file_map has it.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# overwritten [CPU]: how many times the ring buffer has been overwritten, in tenths
overwritten()
{
	# shellcheck disable=SC2086 # a pattern
	cat "$i"/per_cpu/cpu${1:-*}/stats | awk '/^entries:/ { e += $2 } /^overrun:/ { o += $2 }
		END { print int(10 * o / (e + 1)) }'
}

# is_overwritten CPU TENTHS: has its ring buffer been overwritten that often?
is_overwritten()
{
	[ "$(overwritten "$1")" -ge "$2" ]
}

# load TENTHS: programs of several files, until the ring buffer has been overwritten that often
load()
{
	rounds=0
	while [ "$(overwritten)" -lt "$1" ]; do
		"$prog" chain 400 >/dev/null &
		/tmp/over_a chain 300 >/dev/null
		# one of many, which is used once only
		[ $((rounds % 4)) != 0 ] || /tmp/over_b chain 1 >/dev/null
		wait
		rounds=$((rounds + 1))
		[ "$rounds" -lt 400 ] || fail "the ring buffer is not overwritten"
	done
}

cp "$prog" /tmp/over_a
cp "$prog" /tmp/over_b
user_instance over
echo 1 >"$i/options/overwrite"
echo 64 >"$i/buffer_size_kb"
echo 1 >"$i/events/syscalls/sys_exit_getppid/enable"
getppid_on
load 100
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
times=$(overwritten)
paths_of "$OUT/trace"
used=$(wc -l <"$OUT/used")

# A file that is not used any more: while it has stacks in the ring buffer its event is written
# again when other stacks overwrite it.  The last event of all may be the one that does.
echo >"$i/trace"
echo 1 >"$i/tracing_on"
taskset 1 /tmp/over_b chain 60 >/dev/null
hash=$(sed -n 's|^hash=\(0x[0-9a-f]*\) path=/tmp/over_b .*|\1|p' "$i/file_map")
steps=0
while
	taskset 1 "$prog" chain 15 >/dev/null
	cat "$i/trace" >"$OUT/trace-unused"
	grep -q "^ => .* : $hash" "$OUT/trace-unused"
do
	unknown_files "$OUT/trace-unused" "$OUT/trace-unused"
	[ ! -s "$OUT/unknown" ] || {
		taskset 1 "$prog" chain 1 >/dev/null
		cat "$i/trace" >"$OUT/trace-unused"
		paths_of "$OUT/trace-unused"
	}
	steps=$((steps + 1))
	[ "$steps" -lt 400 ] || fail "the stacks of /tmp/over_b are not overwritten"
done
[ "$steps" -ge 5 ] || fail "the stacks of /tmp/over_b are gone after $steps steps"
echo 0 >"$i/tracing_on"

# Stacks in more files than a quarter of the ring buffer holds, used in turn: these are written when
# they are needed, and not all again before each stack.  The event of a file comes right before its
# stack; where a sub-buffer ends between the two, the oldest stack may have lost it.
echo >"$i/trace"
echo 1 >"$i/tracing_on"
taskset 1 "$prog" files 1000 0 12 >/dev/null || fail "files"
tracing_off "$i"
cat "$i/trace" >"$OUT/trace-many"
cat "$i/file_map" >"$OUT/file_map-many"
unknown_files "$OUT/trace-many" "$OUT/trace-many"
[ "$(wc -l <"$OUT/unknown")" -le 1 ] ||
	fail "$(wc -l <"$OUT/unknown") of $(wc -l <"$OUT/used") files have no event"
unknown_files "$OUT/trace-many" "$OUT/file_map-many"
[ ! -s "$OUT/unknown" ] || fail "$(wc -l <"$OUT/unknown") files are not in file_map"
many=$(wc -l <"$OUT/used")
stacks=$(grep -c '<user stack unwind>' "$OUT/trace-many")
files=$(grep -c 'file_map: ' "$OUT/trace-many")
[ "$stacks" -ge 30 ] && [ "$files" -le $((8 * stacks)) ] ||
	fail "$files events of files, $stacks stacks"

# The event of a file is in the ring buffer of CPU 1, a stack that needs it in that of CPU 0.  Then
# CPU 1 has events of its idle task only.  The next stack has the event written again.
echo >"$i/trace"
echo 0 >"$i/events/enable"
getppid_on
taskset 2 "$prog" chain 1 >/dev/null
taskset 1 "$prog" chain 1 >/dev/null
getppid_off
echo 'common_pid == 0 && CPU == 1' >"$i/events/sched/sched_switch/filter" || fail "filter"
echo 1 >"$i/events/sched/sched_switch/enable"
taskset 2 "$prog" spin 600 &
spin=$!
until_true 1200 100000 is_overwritten 1 20 || fail "the ring buffer of CPU 1 is not overwritten"
kill "$spin"
wait "$spin"
tracing_off "$i"
[ "$(overwritten 0)" -eq 0 ] || fail "the ring buffer of CPU 0 is overwritten"
cat "$i/trace" >"$OUT/trace-kernel"
cat "$i/file_map" >"$OUT/file_map-kernel"
! grep -q "file_map: .* path=$prog " "$OUT/trace-kernel" || fail "the event of the file is there"
unknown_files "$OUT/trace-kernel" "$OUT/trace-kernel" "$OUT/file_map-kernel"
[ ! -s "$OUT/unknown" ] || fail "file_map does not have the file of a stack"
echo 0 >"$i/events/enable"
echo 0 >"$i/events/sched/sched_switch/filter"
getppid_on
taskset 1 "$prog" chain 1 >/dev/null
tracing_off "$i"
cat "$i/trace" >"$OUT/trace-again"
paths_of "$OUT/trace-again"

# Another size of sub-buffers empties the ring buffer.
echo 1 >"$i/tracing_on"
echo 8 >"$i/buffer_subbuf_size_kb" || fail "buffer_subbuf_size_kb"
# Nothing was overwritten on CPU 0: the change alone is why the event is written again.
taskset 1 "$prog" chain 3 >/dev/null
tracing_off "$i"
cat "$i/trace" >"$OUT/trace-subbuf"
paths_of "$OUT/trace-subbuf"
echo 0 >"$i/events/enable"
rmdir "$i" || fail "rmdir"

# A dump is one of the top level instance, whose ring buffer is small enough for the kernel log.
i=$tracefs
echo 0 >"$i/tracing_on"
echo 1 >"$i/options/stackmap" && echo 1 >"$i/options/userstacktrace" || fail "options"
echo 1 >"$i/options/overwrite"
echo 8 >"$i/buffer_size_kb"
getppid_on
load 100
getppid_off
tracing_off "$i"
dump_ring
grep '=>  <[0-9a-f]*> : 0x' "$OUT/dmesg" | grep -v ' : 0x00000000$' >"$OUT/dumped"
frames=$(wc -l <"$OUT/dumped")
paths=$(grep -cE " : 0x[0-9a-f]* ($prog|/tmp/over_[ab])\$" "$OUT/dumped")
[ "$frames" -ge 50 ] && [ "$paths" -eq "$frames" ] ||
	fail "$paths of $frames frames in the dump have a path"
echo "# overwritten $((times / 10)) times, all of $used files have their event;" \
	"many: all but one of $many; $frames frames in the dump"
