# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default smp=2 alone
# timeout: 180
# A dump on the console (sysrq-z) has all frames of a user stack and their paths, though printk()
# takes 1000 characters at a time, and the stack is longer than the buffer of an event.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

[ -e "$tracefs/user_stack_map" ] || skip "this kernel has no user_stack_map"
name=$(printf '%0200d' 0)
path=/tmp/$name/$name/deep
mkdir -p "/tmp/$name/$name" && cp "$prog" "$path" || fail "cp"

# A dump is one of the top level instance.
i=$tracefs
echo 0 >"$i/tracing_on"
echo 1 >"$i/options/stackmap" && echo 1 >"$i/options/userstacktrace" || fail "options"
getppid_on
"$path" deep 40 || fail "deep"
getppid_off
echo 0 >"$i/tracing_on"
cat "$i/trace" >"$OUT/trace"
frames=$(grep -c '^ =>  <[0-9a-f]*> : 0x' "$OUT/trace")
[ "$frames" -gt 40 ] || fail "$frames frames in the trace"
dump_ring
dumped=$(grep -c '=>  <[0-9a-f]*> : 0x' "$OUT/dmesg")
[ "$dumped" = "$frames" ] || fail "$dumped of $frames frames in the dump"
paths=$(grep -c "=>  <[0-9a-f]*> : 0x[0-9a-f]* $path\$" "$OUT/dmesg")
[ "$paths" -gt 40 ] || fail "$paths frames have the path"
echo "# $dumped frames in the dump, $paths with a path of ${#path} characters"
