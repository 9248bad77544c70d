#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Instructions that the user stack of an entry into the kernel takes, from the request in the event
# to the event on the way back.  The machine's clock counts them: one nanosecond per instruction.
# needs: variant=default smp=1 accel=single mem=1024 alone append="nokaslr norandmaps"
# needs: qemu="-icount shift=0,sleep=off"
# timeout: 300
. "$TESTS/lib.sh"

dir=$tracefs
[ -e "$dir/user_stack_map" ] || skip "this kernel has no user_stack_map"
cost()
{
	"$TESTS/load" getppid 250 12
}

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

note "$more instructions for a user stack of $frames frames"
