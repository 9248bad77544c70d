# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# What a user stack takes in each entry into the kernel: neither the lock of the address space nor
# memory, beyond what the first one of a task and of a file needs; also where a frame is in memory
# that is not mapped, as code without frame pointers has it.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

n=1000
w=$tracefs/instances/witness
mkdir "$w" || fail "instance"
echo 8192 >"$w/buffer_size_kb"
events "$w" mmap_lock/mmap_lock_acquire_returned kmem/kmalloc
[ -e "$w/events/mmap_lock/mmap_lock_acquire_returned" ] || fail "no event for mmap_lock"

# taken FILE COMMAND: runs user_prog N times; FILE is how often it took the lock, and memory
taken()
{
	echo >"$w/trace"
	echo 1 >"$w/tracing_on"
	"$prog" "$2" $n >/dev/null || fail "$2"
	tracing_off "$w"
	for e in mmap_lock_acquire_returned kmalloc; do
		grep -c "user_prog-.* $e: " "$w/trace"
	done | xargs >"$1"
}

# check_taken COMMAND: takes it with and without user stacks; notes the difference.
check_taken()
{
	echo 0 >"$i/options/userstacktrace"
	taken "$OUT/without-$1" "$1"
	echo >"$i/trace"
	echo 1 >"$i/options/userstacktrace"
	taken "$OUT/with-$1" "$1"
	stacks=$(grep -c '<user stack unwind>' "$i/trace")
	[ "$stacks" -eq $n ] || fail "$1: $stacks user stacks of $n entries"
	read -r locks memory <"$OUT/without-$1"
	read -r more_locks more_memory <"$OUT/with-$1"
	[ "$locks" -gt 0 ] && [ "$memory" -gt 0 ] || fail "the events do not come"
	more_locks=$((more_locks - locks)) more_memory=$((more_memory - memory))
	[ $more_locks -le $((n / 20)) ] || fail "$1: mmap_lock $more_locks times for $n stacks"
	[ $more_memory -le $((n / 20)) ] || fail "$1: memory $more_memory times for $n stacks"
	note "$1: $n entries took mmap_lock $more_locks and memory $more_memory times more"
}

user_instance entries
echo 8192 >"$i/buffer_size_kb"
getppid_on
check_taken many
check_taken chain
rmdir "$w" "$i" || fail "rmdir"
