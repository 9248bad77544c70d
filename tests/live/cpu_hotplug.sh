#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# CPU 1 goes offline and comes back in every order: before, during and after the start of a
# recording.  No recording ends because of that.  Whenever the CPU is online it is recorded, timer
# samples included; events on a CPU that comes online the first time are counted as lost until the
# recorder has noticed it.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

[ -n "${LIVE_VM:-}" ] || skip "takes a CPU offline: only in a test machine"
sysfs=/sys/devices/system/cpu
restore()
{
	umount $sysfs/online 2>/dev/null
	echo 1 >$sysfs/cpu1/online
}

off()
{
	echo 0 >$sysfs/cpu1/online
}

# must_off: without it the test would test nothing.
must_off()
{
	off || fail "CPU 1 cannot be taken offline"
}

on()
{
	echo 1 >$sysfs/cpu1/online
}

off 2>/dev/null || skip "this kernel cannot take CPU 1 offline"
on

# start ARGS...: a recording of all CPUs in cpu.stk.
start()
{
	rm -f cpu.stk
	record_bg -a -o cpu.stk -e raw_syscalls:sys_enter "$@"
}

# samples_of NAME: prints how many samples of the program are in cpu.stk.
samples_of()
{
	"$STACKONCE" script --json --cpu 1 --comm "spin$1" --event 'sample:*' cpu.stk \
		2>/dev/null | wc -l
}

# works NAME: a program of this name makes 2000 calls and computes on CPU 1.
works()
{
	cp "$PROG/getppid" "calls$1"
	cp "$PROG/spin" "spin$1"
	taskset 2 "./calls$1" 2000 >/dev/null
	for _ in 1 2 3; do # where the machine stands still, samples are missing
		taskset 2 "./spin$1" 2000 >/dev/null
		[ "$(samples_of "$1")" -le 20 ] || break
	done
}

# is_recorded NAME: a program of this name runs on CPU 1; calls and samples of it are in cpu.stk.
is_recorded()
{
	taskset 2 "./seen$1" 200 >/dev/null
	for events in 'raw_syscalls:*' 'sample:*'; do
		"$STACKONCE" script --json --cpu 1 --comm "seen$1" --event "$events" cpu.stk \
			2>/dev/null | grep -q '"ts"' || return 1
	done
}

# works_when_seen NAME: works as soon as the recorder has noticed that the CPU is online.
works_when_seen()
{
	cp "$PROG/spin" "seen$1"
	until_true 60 is_recorded "$1" || fail "$1: the CPU is online, but not recorded"
	works "$1"
}

# want_work NAME: what it did is recorded.
want_work()
{
	calls=$("$STACKONCE" script --json --cpu 1 --comm "calls$1" --event 'raw_syscalls:*' \
		cpu.stk | wc -l)
	[ "$calls" -ge 2000 ] || fail "$1: $calls of 2000 calls recorded"
	samples=$(samples_of "$1")
	[ "$samples" -gt 20 ] || fail "$1: $samples timer samples of two seconds at 50 Hz"
	note "$1: $calls calls and $samples timer samples on the CPU"
}

# Off before the start, and on during the recording.
must_off
start -F 50 -e kmem:kfree,kmem:kmem_cache_free
on
works_when_seen first
stop_recorder
want_sum cpu.stk
want_work first

# Off and on again during a recording, the last times faster than the recorder looks, and off at its
# end.
start -F 50
must_off
sleep 2
on
works_when_seen once
for _ in 1 2 3 4 5; do
	must_off
	on
done
works_when_seen often
must_off
sleep 1
stop_recorder
want_sum cpu.stk
want_work once
want_work often
on

# The list of online CPUs is always older than what the recorder does with it; here it is wrong.
cat $sysfs/online >online
mount --bind online $sysfs/online || fail "the list of online CPUs cannot be replaced"
must_off
start -F 50
on
works_when_seen back
stop_recorder
umount $sysfs/online
want_sum cpu.stk
want_work back

# Off and on while recorders start and end.
(while :; do
	off
	sleep 0.3
	on
	sleep 0.5
done) &
toggles=$!
test_pids="$test_pids $toggles"
for how in '--backend bpf -F 50' '--backend bpf -F 50' '--backend ftrace'; do
	# shellcheck disable=SC2086 # a list of words
	"$STACKONCE" record -q -a -d 3 $how -e raw_syscalls:sys_enter -o cpu.stk >err 2>&1 || {
		cat err
		fail "a recording with $how ended when a CPU went offline or came back"
	}
	want_sum cpu.stk
done
end_child KILL "$toggles"
on 2>/dev/null || :

# ftrace has no ring for a CPU that has been offline since the instance was created.
must_off
start --backend ftrace
on
sleep 2
taskset 2 "$PROG/getppid" 2000 >/dev/null
must_off
sleep 1
stop_recorder
want_sum cpu.stk
calls=$("$STACKONCE" script --json --cpu 1 --comm getppid cpu.stk | wc -l)
[ "$calls" -ge 2000 ] || fail "ftrace: $calls of 2000 calls recorded"
note "every order: samples and calls are recorded when the CPU is online"
