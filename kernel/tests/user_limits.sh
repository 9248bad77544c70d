# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# timeout: 300
# A user who is not root can fill a part of the file table only; a reset of the user stacks empties
# it.  The path of a file is the one in the mount namespace, whatever the root of the task is, and
# that of another mount namespace is marked.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

user_stat_of()
{
	sed -n "s/^$1: \([0-9]*\).*/\1/p" "$i/user_stack_map_stat"
}

user_instance limits
echo 8192 >"$i/buffer_size_kb"
echo 0 >"$i/options/stacktrace"
getppid_on
"$prog" files 2200 1000 || fail "files"
files=$(user_stat_of files)
[ "$files" -ge 2000 ] && [ "$files" -le 2060 ] || fail "$files files of one user"
[ "$(user_stat_of files_refused)" -ge 100 ] || fail "none refused"
"$prog" files 2 1001 || fail "files"
[ "$(user_stat_of files)" = $((files + 2)) ] || fail "the next user is refused"
"$prog" files 5 0 || fail "files"
[ "$(user_stat_of files)" = $((files + 7)) ] || fail "root is refused"
getppid_off
echo 0 >"$i/tracing_on"
echo 0 >"$i/user_stack_map" || fail "reset"
[ "$(user_stat_of files)" = 0 ] || fail "files after a reset: $(user_stat_of files)"
[ "$(wc -l <"$i/file_map")" = 0 ] || fail "file_map after a reset"

# a root of its own
mkdir -p /tmp/root/bin
cp "$prog" /tmp/root/bin/inside
getppid_on
echo 1 >"$i/tracing_on"
chroot /tmp/root /bin/inside chain >/dev/null 2>&1
cat "$i/file_map" >"$OUT/file_map"
grep -q ' path=/tmp/root/bin/inside build_id=' "$OUT/file_map" || fail "path of a chroot"

# a mount namespace of its own
cp "$prog" /tmp/root/bin/other
unshare -m /tmp/root/bin/other chain >/dev/null || fail "unshare"
cat "$i/file_map" >"$OUT/file_map"
grep -q ' path=\[mnt:[0-9]*\]/tmp/root/bin/other build_id=' "$OUT/file_map" ||
	fail "path of another mount namespace"
getppid_off
rmdir "$i" || fail "rmdir"
echo "# $files files of one user, then they are refused"
