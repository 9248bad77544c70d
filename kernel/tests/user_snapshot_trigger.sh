# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug smp=2
# timeout: 240
# Snapshots that the taking of a user stack causes itself, or that are taken at each context switch:
# the traced tasks come back to user space nevertheless, and everything can be switched off.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

# comes_back PID: it ends, with status 0.  One that does not cannot be killed.
comes_back()
{
	until_true 600 100000 is_over "$1" || fail "$1 does not come back from the kernel"
	wait "$1" || fail "$1 ended with $?"
}

# off: until no snapshot takes it back
off()
{
	until_true 100 0 goes_off "$i" || fail "tracing does not go off"
}

# The event of a file is written under a mutex, and each snapshot makes it necessary again.
lock=$(grep -o -x -m 1 'mutex_lock\(_nested\)\?' "$tracefs/available_filter_functions") ||
	fail "no function for mutexes"
user_instance trigger
[ -e "$i/snapshot" ] || skip "no snapshots"
# What would loop in the kernel for good keeps the instance.
trap 'echo "!$lock:snapshot" >"$i/set_ftrace_filter"' EXIT
echo "$lock:snapshot" >"$i/set_ftrace_filter" || fail "no snapshot at $lock"
getppid_on
"$prog" chain 20 >"$OUT/said" &
comes_back $!
own=$(user_stat_of successes)
[ "$own" -gt 0 ] || fail "no user stack was taken"
off
grep -q "path=$prog build_id=" "$i/file_map" || fail "the file is not in file_map"
echo "!$lock:snapshot" >"$i/set_ftrace_filter" || fail "the function cannot be let alone"
trap - EXIT
! grep -q 'Snapshot is allocated' "$i/snapshot" || fail "no snapshot was taken"

trigger=$i/events/sched/sched_switch/trigger
echo snapshot >"$trigger" || fail "no trigger"
echo 1 >"$i/events/syscalls/enable"
echo 1 >"$i/tracing_on"
"$prog" threads 4 200 &
one=$!
"$prog" fork &
two=$!
comes_back "$one"
comes_back "$two"
all=$(user_stat_of successes)
[ "$all" -gt "$own" ] || fail "no user stack was taken beside context switches"
off
echo 0 >"$i/events/enable"
echo '!snapshot' >"$trigger" || fail "the trigger cannot be removed"
rmdir "$i" || fail "rmdir"
echo "# $own stacks with a snapshot each, $((all - own)) beside context switches"
