# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# A process in a mount namespace of its own whose first thread has ended: when the files of all
# processes are written out its paths are those of that namespace, and marked as such.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# is_leaderless: has the first thread ended, and does the other one sleep?
is_leaderless()
{
	grep -q '^State:.Z' "/proc/$pid/status" &&
		[ "$(threads_in "$pid" "$nr_nanosleep" | wc -l)" = 1 ]
}

user_instance leaderless
d=/tmp/leaderless
mkdir -p $d/outside $d/inside && cp "$prog" $d/outside/p || fail "cp"
# shellcheck disable=SC2016 # expanded by the inner shell
unshare -m sh -c 'mount -o bind "$0/outside" "$0/inside" && exec "$0/inside/p" leaderless 600' $d &
pid=$!
until_true 600 100000 is_leaderless || fail "the second thread is not left alone"
tid=$(threads_in "$pid" "$nr_nanosleep")
ns=$(readlink "/proc/$pid/task/$tid/ns/mnt" | tr -d '[]')
[ -n "$ns" ] && [ "$ns" != "$(readlink /proc/1/ns/mnt | tr -d '[]')" ] ||
	fail "namespace '$ns'"
echo 1 >"$i/file_map" || fail "dump"
cat "$i/file_map" >"$OUT/file_map"
kill "$pid"
wait "$pid"
grep -qF " path=[$ns]$d/inside/p build_id=" "$OUT/file_map" ||
	fail "not in [$ns]: $(grep "$d" "$OUT/file_map")"
rmdir "$i" || fail "rmdir"
rm -r $d
note "$(sed -n "s|.* path=\(.*$d/inside/p\) .*|\1|p" "$OUT/file_map")"
