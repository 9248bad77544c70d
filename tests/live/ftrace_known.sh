#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without BPF: known calls are counted exactly, and every event has the same kernel stack, frame by
# frame, as the BPF programs record for the same event at the same time.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

# want WHAT NUMBER WANTED
want()
{
	[ "$2" -eq "$3" ] || fail "$1: $2 instead of $3"
}

n=$(scale 20000 3000)
# shellcheck disable=SC2086 # an option and its value
record --backend ftrace $roomy -o call.stk -e syscalls:sys_enter_getppid \
	-e syscalls:sys_exit_getppid -- "$PROG/getppid" "$n"
want_sum call.stk
want "lost" "$(info_of call.stk .totals.lost)" 0
for e in syscalls:sys_enter_getppid syscalls:sys_exit_getppid; do
	want "$e" "$(counted call.stk "$e" recorded)" "$n"
	want "$e in script" \
		"$("$STACKONCE" script --json --event "$e" --comm getppid call.stk | wc -l)" "$n"
done
record --backend ftrace -o filter.stk -e raw_syscalls:sys_enter --filter 'id == 110' -- \
	"$PROG/getppid" "$n"
want_sum filter.stk
want "id == 110" "$(counted filter.stk raw_syscalls:sys_enter recorded)" "$n"
[ "$("$STACKONCE" script --json filter.stk | jq -r .fields.id | sort -u)" = 110 ] ||
	fail "the filter did not exclude other system calls"
record --backend ftrace -o fork.stk -e sched:sched_process_fork -- "$PROG/forktree" 3 2 1
want_sum fork.stk
want "forks" "$(counted fork.stk sched:sched_process_fork recorded)" 14

# Both backends at once, armed before the workload starts and stopped after it has ended: event k of
# a task and an event type is the same event in both recordings.
# Unique names, because a test beside this one may run the same programs, and the shell's until they
# are executed.
pingpong=pp$$ forktree=ft$$ shell=sh$$
printf %s $shell >/proc/$$/comm # without a newline, which would be part of it
events='-e sched:sched_switch -e sched:sched_waking -e irq:softirq_raise -e syscalls:sys_enter_read'
# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend bpf -o bpf.stk $events
bpf=$recorder
# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend ftrace -o ftrace.stk $events
cp "$PROG/pingpong" $pingpong || exit 1
cp "$PROG/forktree" $forktree || exit 1
./$pingpong "$(scale 1500 200)" 0 >/dev/null
./$forktree 3 2 10 >/dev/null
stop_recorder
recorder=$bpf
stop_recorder
for f in bpf ftrace; do
	want_sum $f.stk
	want "lost by $f" "$(info_of $f.stk '.totals.lost - ([.events[].lost_by.edge] | add)')" 0
	"$STACKONCE" script $f.stk >$f.txt
done

# flatten FILE: prints "pid event #N: frame frame ..." for each event of the workload's tasks, but
# not for those of another task that had the PID before.  The name of another test's BPF program,
# which an interrupt has hit, is lost if the program is unloaded before the recorder asks for it:
# such frames are compared without their names.  Nor a task's last switch: a recording may end while
# the task that was waited for leaves its CPU.
flatten()
{
	awk -v names="^ *($pingpong|$forktree|$shell)-" 'NR == FNR { ours[$1] = 1; next }
		match($0, /-[0-9]+ +\[[0-9]+\] /) {
			split(substr($0, RSTART + 1, RLENGTH - 3), word, / +\[/)
			now = ""
			if (!(word[1] in ours) || $0 !~ names ||
			    !match($0, /[0-9]: [a-z_]+: /))
				next
			event = substr($0, RSTART + 3, RLENGTH - 5)
			now = word[1] " " event " #" ++count[word[1], event]
			frames[now] = ""
			next
		}
		/^ *=> / && now != "" {
			sub(/^(bpf_prog_.*|0x[0-9a-f]+)$/, "bpf", $2)
			frames[now] = frames[now] " " $2
		}
		END {
			for (e in frames)
				print e ":" frames[e]
		}' tasks "$1" | sed '/ do_task_dead/d' | LC_ALL=C sort
}

sed -n "s/^ *\($pingpong\|$forktree\)-\([0-9]*\) .*/\2/p" bpf.txt | sort -u >tasks
flatten bpf.txt >bpf.flat
flatten ftrace.txt >ftrace.flat
[ "$(wc -l <bpf.flat)" -gt "$(scale 3000 400)" ] || fail "only $(wc -l <bpf.flat) events to compare"
[ "$(grep -c ': .* ' bpf.flat)" -eq "$(wc -l <bpf.flat)" ] || fail "some events have no stack"
diff bpf.flat ftrace.flat >differ || {
	head -n 12 differ
	fail "$(grep -c '^>' differ) of $(wc -l <ftrace.flat) stacks differ"
}
note "$(wc -l <ftrace.flat) events with equal stacks, $(sed 's/.*#[0-9]*://' ftrace.flat | sort -u |
	wc -l) distinct"
