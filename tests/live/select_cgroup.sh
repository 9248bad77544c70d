#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# -G records exactly the tasks of a cgroup and of those below it: also in a cgroup that is created
# meanwhile, children, a task while it is inside, and switches and wakeups from outside that name
# one of its tasks.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -z "$mount" ]; then
	mount=$work/mnt
	mkdir "$mount"
	mount -t cgroup2 none "$mount" 2>/dev/null || skip "cgroup v2 cannot be mounted"
fi
top=$mount/stackonce-live-$$

restore()
{
	for d in "$top/in/late" "$top/in/sub" "$top/in" "$top/out" "$top"; do
		rmdir "$d" 2>/dev/null
	done
	[ "$mount" != "$work/mnt" ] || umount "$mount"
}

mkdir "$top" "$top/in" "$top/in/sub" "$top/out" 2>/dev/null ||
	skip "cgroup v2 cannot be changed here"

# inside CGROUP COMMAND...: runs the command in the cgroup.
inside()
{
	cgroup=$1
	shift
	# shellcheck disable=SC2016 # for the shell in the cgroup
	sh -c 'echo 0 >"$0/cgroup.procs" && exec "$@"' "$top/$cgroup" "$@" >/dev/null ||
		fail "$* ended with $?"
}

# A path that is no cgroup is refused.
for wrong in /no/such/cgroup "$work"; do
	rc=0
	"$STACKONCE" record -q -o wrong.stk -G "$wrong" -e $call -d 1 2>err || rc=$?
	{ [ "$rc" -eq 1 ] && grep -q "select cgroup '$wrong'" err; } ||
		fail "-G $wrong ended with $rc: $(cat err)"
done

# As /proc/PID/cgroup has it, too: below the mount.
# Threads of the recorder switch to its tasks, too.
record_bg --no-user-stacks --include-self -G "/stackonce-live-$$/in" -o tasks.stk -e $call \
	-e sched:sched_switch -e sched:sched_waking
inside in "$PROG/getppid" 101
inside in/sub "$PROG/getppid" 202
inside out "$PROG/getppid" 303
mkdir "$top/in/late"
inside in/late "$PROG/getppid" 404
inside in "$PROG/forktree" 3 2 10
# A task that comes in and leaves: 50 calls before, 60 inside, 70 after.
cat >mover <<-EOF
	$PROG/getppid 50
	echo 0 >$top/in/cgroup.procs
	$PROG/getppid 60
	echo 0 >$top/out/cgroup.procs
	$PROG/getppid 70
EOF
sh mover >/dev/null || fail "the task that moves ended with $?"
# Its wakeups happen in interrupts that hit any task, and name it.  ftrace sees its switches, too.
comm=sl$$
cp "$PROG/sleeper" $comm
watch_switches $comm
echo "comm == \"$comm\"" >"$instance/events/sched/sched_waking/filter"
echo 1 >"$instance/events/sched/sched_waking/enable"
inside in ./$comm 50
stop_recorder
want_sum tasks.stk
calls=$((101 + 202 + 404 + 150 + 60))
[ "$(counted tasks.stk $call recorded)" -eq "$calls" ] ||
	fail "$(counted tasks.stk $call recorded) instead of $calls calls recorded"
out=$(info_of tasks.stk --arg e $call '.events[] | select(.name == $e) | .filtered_by.cgroup')
[ "$out" -ge $((303 + 50 + 70)) ] || fail "only $out calls outside of the cgroup were filtered"
info_true tasks.stk '.meta.target == "selected" and (.meta."selected.cgroups" | endswith("/in"))' ||
	fail "info does not say what was selected"

# Every switch from and to the sleeper, and every wakeup of it that BPF can see.
"$STACKONCE" script --json --event 'sched:*' tasks.stk >sched.json
jq -rs --arg c $comm '
	([.[] | select(.event == "sched:sched_waking" and .fields.comm == $c)] | length),
	([.[] | select(.fields.prev_comm == $c)] | length),
	([.[] | select(.fields.next_comm == $c)] | length)' sched.json | tr '\n' ' ' >numbers
read -r woken off on <numbers
# On a slow machine a timer may expire before the sleeper leaves the CPU, and any number of timers
# may interrupt PID 1: ftrace says how often the sleeper was woken.
truth=$(seen_by_bpf <"$instance/trace" | grep -c ' sched_waking:')
lost=$(counted tasks.stk sched:sched_waking lost)
if [ "$woken" -eq 0 ] || [ $((woken + lost)) -lt "$truth" ] || [ "$off" -eq 0 ]; then
	fail "the sleeper was woken $woken times of $truth, with $lost wakeups lost, and left the" \
		"CPU $off times"
fi
want_switches $comm "$off" "$on"

# The cgroup may be removed, and a command outside of it is not recorded.
rmdir "$top/in/late"
record --no-user-stacks -a -G "$top/in" -o command.stk -e $call -- "$PROG/getppid" 100
want_sum command.stk
[ "$(counted command.stk $call recorded)" -eq 0 ] || fail "a command outside was recorded"
record --no-user-stacks -G "$top/out" -G "$mount" -o all.stk -e $call -- "$PROG/getppid" 100
[ "$(counted all.stk $call recorded)" -eq 100 ] ||
	fail "$(counted all.stk $call recorded) of 100 calls in the root cgroup recorded"
note "$calls calls inside recorded, $out outside filtered; $woken wakeups of $truth, $off and $on" \
	switches
