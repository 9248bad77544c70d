# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: smp=2
# What a user stack takes in each entry into the kernel: neither the lock of the address space nor
# memory, beyond what the first one of a task and of a file needs.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

n=1000
w=$tracefs/instances/witness
mkdir "$w" || fail "instance"
echo 8192 >"$w/buffer_size_kb"
events "$w" mmap_lock/mmap_lock_acquire_returned kmem/kmalloc
[ -e "$w/events/mmap_lock/mmap_lock_acquire_returned" ] || fail "no event for mmap_lock"

# taken FILE: runs the chain; FILE is how often it took the lock, and how often memory
taken()
{
	echo >"$w/trace"
	echo 1 >"$w/tracing_on"
	"$prog" chain $n >/dev/null || fail "chain"
	tracing_off "$w"
	for e in mmap_lock_acquire_returned kmalloc; do
		grep -c "user_prog-.* $e: " "$w/trace"
	done | xargs >"$1"
}

user_instance entries
echo 8192 >"$i/buffer_size_kb"
getppid_on
echo 0 >"$i/options/userstacktrace"
taken "$OUT/without"
echo >"$i/trace"
echo 1 >"$i/options/userstacktrace"
taken "$OUT/with"
stacks=$(grep -c '<user stack unwind>' "$i/trace")
[ "$stacks" -eq $n ] || fail "$stacks user stacks of $n entries"
read -r locks memory <"$OUT/without"
read -r more_locks more_memory <"$OUT/with"
[ "$locks" -gt 0 ] && [ "$memory" -gt 0 ] || fail "the events do not come"
more_locks=$((more_locks - locks)) more_memory=$((more_memory - memory))
[ $more_locks -le $((n / 20)) ] || fail "mmap_lock $more_locks times for $n stacks"
[ $more_memory -le $((n / 20)) ] || fail "memory $more_memory times for $n stacks"
rmdir "$w" "$i" || fail "rmdir"
note "$n entries took mmap_lock $more_locks and memory $more_memory times more"
