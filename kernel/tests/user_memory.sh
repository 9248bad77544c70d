# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# timeout: 300
# Memory for user stacks is charged to the memory cgroup of the task.  A group that has no more is
# not made to kill for it: the stack is counted as lost.  What files take stays charged until the
# table is emptied.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

cgroups=/tmp/cgroups

# What fails leaves processes in the groups, which keep them.
clean_up()
{
	rmdir $cgroups/full $cgroups/files
	echo -memory >$cgroups/cgroup.subtree_control
	umount $cgroups
} 2>/dev/null
trap clean_up EXIT

mkdir -p $cgroups
grep -q " $cgroups cgroup2 " /proc/mounts || mount -t cgroup2 none $cgroups || fail "cgroup2"
echo +memory >$cgroups/cgroup.subtree_control || fail "no memory controller"

# new_group NAME: $group is an empty one
new_group()
{
	group=$cgroups/$1
	mkdir "$group" || fail "mkdir $group"
}

# in_group COMMAND...
in_group()
{
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

slab()
{
	sed -n 's/^slab //p' "$group/memory.stat"
}

# lost: stacks without memory, of all instances since boot
lost()
{
	sed -n 's/^lost_no_memory: //p' "$i/user_stack_map_stat"
}

user_instance memory
lost_before=$(lost)
echo 16384 >"$i/buffer_size_kb"

# Threads that wait, in a group that gets no more than it has; then each has its first stack.
new_group full
mkfifo "$OUT/go" || fail "mkfifo"
in_group "$prog" crowd 400 <"$OUT/go" >"$OUT/crowd" &
crowd=$!
exec 9>"$OUT/go"
until_true 1200 100000 grep -q ready "$OUT/crowd" || fail "the threads do not start"
cat "$group/memory.current" >"$group/memory.max" || fail "memory.max"
getppid_on
exec 9>&-
wait "$crowd" || fail "the threads ended with $?: $(cat "$group/memory.events")"
getppid_off
lost=$(($(lost) - lost_before))
grep -q '^oom_kill 0$' "$group/memory.events" || fail "$(cat "$group/memory.events")"
[ "$lost" -gt 0 ] || fail "400 stacks in a full group, none is lost: $(cat "$group/memory.events")"
rm "$OUT/go"

# 1000 files, whose paths have 190 characters
new_group files
before=$(slab)
getppid_on
in_group "$prog" files 1000 || fail "files"
getppid_off
sleep 1
with=$(slab)
echo 0 >"$i/tracing_on"
echo 0 >"$i/user_stack_map" || fail "reset"
sleep 1
after=$(slab)
[ $((with - before)) -ge 300000 ] || fail "$((with - before)) bytes are charged for 1000 files"
[ $((after - before)) -le 100000 ] || fail "$((after - before)) bytes stay charged"
rmdir "$i" || fail "rmdir"
note "$lost of 400 stacks lost; $(((with - before) / 1000)) bytes for a file"
