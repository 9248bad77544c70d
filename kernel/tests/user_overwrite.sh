# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,kcsan smp=2 alone
# timeout: 300
# Flight recorder: when the ring buffer has been overwritten ten times, each frame in it still has
# its path, in the ring buffer itself and in a dump on the console (sysrq-z); also after the size of
# the sub-buffers was changed.  More files than there is room for leave room for stacks.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# overwritten: how many times the ring buffer has been overwritten, in tenths
overwritten()
{
	cat "$i"/per_cpu/cpu*/stats | awk '/^entries:/ { e += $2 } /^overrun:/ { o += $2 }
		END { print int(10 * o / (e + 1)) }'
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

# Stacks in more files than a quarter of the ring buffer holds, used in turn: these are written when
# they are needed, and not all again before each stack.
echo >"$i/trace"
echo 1 >"$i/tracing_on"
"$prog" files 1000 0 12 >/dev/null || fail "files"
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace-many"
stacks=$(grep -c '<user stack unwind>' "$OUT/trace-many")
files=$(grep -c 'file_map: ' "$OUT/trace-many")
[ "$stacks" -ge 40 ] && [ "$files" -le $((8 * stacks)) ] ||
	fail "$files events of files, $stacks stacks"

# Another size of sub-buffers empties the ring buffer.
echo 1 >"$i/tracing_on"
echo 8 >"$i/buffer_subbuf_size_kb" || fail "buffer_subbuf_size_kb"
"$prog" chain 3 >/dev/null
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace-subbuf"
paths_of "$OUT/trace-subbuf"
echo 0 >"$i/events/enable"
rmdir "$i" || fail "rmdir"

# A dump is one of the top level instance.
i=$tracefs
echo 0 >"$i/tracing_on"
echo 1 >"$i/options/stackmap" && echo 1 >"$i/options/userstacktrace" || fail "options"
getppid_on
"$prog" chain 2 >/dev/null
getppid_off
echo 0 >"$i/tracing_on"
dump_ring
frames=$(grep -c '=>  <[0-9a-f]*> : 0x' "$OUT/dmesg")
paths=$(grep -c "=>  <[0-9a-f]*> : 0x[0-9a-f]* $prog\$" "$OUT/dmesg")
[ "$frames" -gt 4 ] && [ "$paths" -ge 8 ] || fail "$paths of $frames frames in the dump have a path"
echo "# overwritten $((times / 10)) times, all of $used files have their event"
