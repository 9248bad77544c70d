#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Instructions that the user stack of an entry into the kernel takes, from the request in the event
# to the event on the way back.  The machine's clock counts them: one nanosecond per instruction.
# With two CPUs they would be the same: a machine that counts runs one CPU at a time, so none ever
# waits for the other.
# needs: variant=default smp=1 accel=single mem=1024 alone append="nokaslr norandmaps"
# needs: qemu="-icount shift=0,sleep=off"
# timeout: 300
. "$TESTS/lib.sh"

dir=$tracefs
[ -e "$dir/user_stack_map" ] || skip "this kernel has no user_stack_map"
cost()
{
	"$TESTS/user_prog" cost 250 12
}

# At most so many instructions for a stack of six frames, which takes 3792; how functions are placed
# makes a difference of some 40.
most=3832

echo 64 >"$dir/buffer_size_kb"
echo 1 >"$dir/options/stackmap"
echo 1 >"$dir/options/stacktrace"
echo 1 >"$dir/tracing_on"
echo 1 >"$dir/events/syscalls/sys_enter_getppid/enable"
kernel=$(cost)
echo 1 >"$dir/options/userstacktrace"
user=$(cost)
echo 0 >"$dir/events/syscalls/sys_enter_getppid/enable"
grep -q '^ =>  <' "$dir/trace" || fail "no user stacks"
frames=$(awk '/^cookie=/ { n++ } /^ =>  </ { f++ } END { printf "%.1f", f / n }' "$dir/trace")
more=$(echo "$user $kernel" | awk '{ printf "%.0f", $1 - $2 }')
echo "$frames" | awk '{ exit !($1 >= 5) }' || fail "a user stack has $frames frames"
if [ "$more" -le 0 ] || [ "$more" -gt "$most" ]; then
	fail "$more instructions, at most $most are allowed"
fi
note "$more instructions for a user stack of $frames frames, at most $most"
