# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# Files of user stacks: a new file at the same path, a deleted file, a path with a blank and a
# newline, a reset of the ring buffer, two instances, the dump of all mappings.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

hash_of_last()
{
	cat "$i/trace" >"$OUT/trace-$1"
	frames_of "$OUT/trace-$1" >"$OUT/frames-$1"
	awk '{ c[$2] = $5; last = $2 } END { print c[last] }' "$OUT/frames-$1"
}

d=/tmp/user_files
rm -rf "$d" && mkdir -p "$d"
user_instance files
getppid_on

# The same bytes in a new file.
cp "$prog" "$d/p" && "$d/p" chain >"$OUT/said" || fail "run"
old=$(hash_of_last old)
cp "$prog" "$d/new" && mv "$d/new" "$d/p" && "$d/p" chain >"$OUT/said" || fail "run"
new=$(hash_of_last new)
[ -n "$old" ] && [ -n "$new" ] && [ "$old" != "$new" ] || fail "hash '$old', then '$new'"
for h in "$old" "$new"; do
	[ "$(path_of "$h" "$OUT/trace-new" | cut -d' ' -f1)" = "$d/p" ] || fail "path of $h"
done

# Other bytes in the same file.
cp "$prog" "$d/w" && "$d/w" chain >"$OUT/said" || fail "run"
before=$(hash_of_last before)
"$d/w" chain >"$OUT/said" || fail "run"
[ "$(hash_of_last same)" = "$before" ] || fail "another hash for the same file"
usleep 20000
echo more >>"$d/w" && "$d/w" chain >"$OUT/said" || fail "run"
after=$(hash_of_last after)
[ -n "$after" ] && [ "$after" != "$before" ] || fail "hash '$before' before a write, '$after' after"

# Unlinked while it runs: it sleeps until the event of its way back is on.
cp "$prog" "$d/gone"
"$d/gone" sleep 600 &
pid=$!
until_call "$pid" "$nr_nanosleep"
rm "$d/gone"
"$prog" chain >/dev/null
echo 1 >"$i/events/syscalls/sys_exit_clock_nanosleep/enable"
kill "$pid"
wait "$pid"
echo 0 >"$i/events/syscalls/sys_exit_clock_nanosleep/enable"
cat "$i/file_map" >"$OUT/file_map"
grep -q "path=$d/gone\\\\040(deleted) build_id=[0-9a-f]" "$OUT/file_map" || fail "deleted file"

# No character of a name ends the line or the field.
odd="$d/a b
c\\d"
cp "$prog" "$odd" && "$odd" chain >/dev/null || fail "odd name"
grep -qF "path=$d/a\\040b\\012c\\134d build_id=" "$i/file_map" || fail "odd name in file_map"
cat "$i/trace" >"$OUT/trace-odd"
grep -qF "path=$d/a\\040b\\012c\\134d build_id=" "$OUT/trace-odd" || fail "odd name in trace"

# After a reset of the ring buffer the file is written again, with the same hash.
echo >"$i/trace"
"$d/p" chain >/dev/null
[ "$(hash_of_last reset)" = "$new" ] || fail "hash after reset"
[ "$(path_of "$new" "$OUT/trace-reset" | cut -d' ' -f1)" = "$d/p" ] ||
	fail "no file_map after reset"
for c in "$i"/per_cpu/cpu*/trace; do
	echo >"$c"
done
"$d/p" chain >/dev/null
[ "$(hash_of_last cpus)" = "$new" ] || fail "hash after reset of CPUs"
[ "$(path_of "$new" "$OUT/trace-cpus" | cut -d' ' -f1)" = "$d/p" ] || fail "no file_map: CPUs"
# A change of size may lose events, so the file is written again, though nothing is lost when the
# ring buffer grows: the event of before is still there.
echo 3000 >"$i/buffer_size_kb" || fail "resize"
"$d/p" chain >/dev/null
[ "$(hash_of_last size)" = "$new" ] || fail "hash after a change of size"
[ "$(path_of "$new" "$OUT/trace-size" | grep -c "^$d/p ")" = 2 ] || fail "no file_map: size"
getppid_off

# All executable mappings of running processes: the shell, and a program that does nothing.
"$d/p" sleep 600 &
pid=$!
until_call "$pid" "$nr_nanosleep"
echo >"$i/trace"
echo 1 >"$i/file_map" || fail "dump"
kill "$pid"
cat "$i/trace" >"$OUT/trace-dump"
[ "$(path_of "$new" "$OUT/trace-dump" | wc -l)" = 1 ] || fail "dump: no $d/p"
shell=$(readlink /proc/$$/exe)
grep -q "file_map: .*path=$shell build_id=" "$OUT/trace-dump" || fail "dump: no $shell"
[ "$(grep -c 'file_map: ' "$OUT/trace-dump")" = \
	"$(sed -n 's/.*file_map: hash=\([^ ]*\) .*/\1/p' "$OUT/trace-dump" | sort -u | wc -l)" ] ||
	fail "dump: a file twice"

# Reset of the stack map: refused while tracing is on; files stay.
! echo 0 2>/dev/null >"$i/user_stack_map" || fail "reset while tracing"
echo 0 >"$i/tracing_on"
! echo 7 2>/dev/null >"$i/user_stack_map" || fail "wrote 7"
echo 0 >"$i/user_stack_map" || fail "reset"
grep -q '^entries: 0 /' "$i/user_stack_map_stat" || fail "entries after reset"
[ "$(stat -c %a "$i/user_stack_map" "$i/file_map" "$i/user_stack_map_stat" \
	"$i/user_stack_map_bin" | tr '\n' ' ')" = "640 640 440 440 " ] || fail "modes"
rmdir "$i" || fail "rmdir"
echo "# $(grep -c 'file_map: ' "$OUT/trace-dump") files in the dump"
