# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# timeout: 300
# A user who is not root can fill a part of the file table only, nor can those of a user namespace
# that root has made; what root writes out of their processes counts for them.  Whose file is
# refused does not have its path read each time.  A reset of the user stacks empties the table.  The
# path of a file is the one in the mount namespace, whatever the root of the task is, and that of
# another mount namespace is marked.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

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

# the path of a file that will be refused
echo 'p:limits/path d_absolute_path' >"$tracefs/kprobe_events" || fail "kprobe"
paths=$tracefs/instances/paths
mkdir "$paths" && echo 1 >"$paths/events/limits/path/enable" || fail "kprobe"
refused=$(user_stat_of files_refused)
"$prog" files 50 1000 || fail "files"
[ "$(user_stat_of files_refused)" = $((refused + 50)) ] || fail "not refused"
"$prog" files 2 0 || fail "files"
reads=$(grep -c 'path: ' "$paths/trace")
[ "$reads" = 2 ] || fail "$reads paths read, 2 needed"
echo 0 >"$paths/events/enable"
rmdir "$paths" && echo >"$tracefs/kprobe_events" || fail "rmdir"

# part_of BEFORE WHAT: since then, one owner has brought as many as there may be
part_of()
{
	more=$(($(user_stat_of files) - $1))
	[ "$more" -ge 2000 ] && [ "$more" -le 2060 ] || fail "$more files of $2"
}

before=$(user_stat_of files)
unshare -U "$prog" files 2200 0 || fail "unshare -U"
part_of "$before" "a user namespace of root"

# what is mapped, without a stack
before=$(user_stat_of files)
"$prog" files 2200 1002 0 600 >"$OUT/mapped" &
pid=$!
until_true 1200 100000 grep -q mapped "$OUT/mapped" || fail "files are not mapped"
echo 1 >"$i/file_map" || fail "file_map"
kill "$pid"
part_of "$before" "a process that root writes out"

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
