#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Our stacks equal those that ftrace's option `stacktrace` prints for the same events at the same
# time: context switches, wakeups, and softirqs, whose stacks we store in parts.  So do those of
# events whose records the kernel fills.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
# Unique names, because a test beside this one may run the same programs.
pingpong=pp$$ forktree=ft$$
cp "$PROG/pingpong" $pingpong || exit 1
cp "$PROG/forktree" $forktree || exit 1
events='sched/sched_switch sched/sched_waking irq/softirq_raise'
new_instance
echo mono >"$instance/trace_clock"
echo 1 >"$instance/options/stacktrace"
echo 1 >"$instance/options/sym-offset"
echo 0 >"$instance/options/irq-info" 2>/dev/null
scale 65536 16384 >"$instance/buffer_size_kb"

# Both tracers are enabled before the workload starts and disabled after it has ended, and both lose
# nothing: event k of a task and an event type is the same event in both.  We begin before ftrace
# and end after it: a task with the PID of one of the workload's may run then, and does not count.
recorders=
for way in native kernel; do
	# shellcheck disable=SC2086 # an option and its value
	record_bg -a $roomy -k mono --fields $way -o $way.stk -e sched:sched_switch \
		-e sched:sched_waking -e irq:softirq_raise
	recorders="$recorders $recorder"
done
for e in $events; do
	echo 1 >"$instance/events/$e/enable"
done
./$pingpong "$(scale 1500 200)" 0 >/dev/null
./$forktree 3 2 10 >/dev/null
for e in $events; do
	echo 0 >"$instance/events/$e/enable"
done
cat "$instance/trace" >ftrace.txt
for recorder in $recorders; do
	stop_recorder
done
for way in native kernel; do
	want_sum $way.stk
	[ "$(info_of $way.stk .totals.lost)" -le "$(($(nproc) * 6))" ] ||
		fail "events were lost, the stacks cannot be compared"
done
grep -qh '^overrun: [1-9]' "$instance"/per_cpu/cpu*/stats && fail "ftrace's buffer is too small"

# flatten FILE: prints "pid event #N: frame frame ..." for each event of the workload's tasks while
# ftrace recorded; N counts by task and event type.  Both read the same clock, one after the other:
# within a millisecond.  Tasks are identified by PID, because ftrace prints the name at the end of
# the test, and we print the name at the event.  In ftrace a stack is an entry of its own after its
# event, and an interrupt can insert events with their stacks between the two: a stack belongs to
# the last event of its CPU that has none.  Frames of the tracers themselves are left out; those in
# a BPF program that has been unloaded are bare addresses.  A task's last switch does not count:
# ftrace may end while the task that was waited for leaves its CPU.
flatten()
{
	awk -v first="$first" -v last="$last" '
		function tracer(f) {
			return f ~ /^(__traceiter_|__bpf_trace_|bpf_trace_run|bpf_prog_)/ ||
			       f ~ /^(perf_trace_|trace_event_raw_event_|trace_event_buffer_)/ ||
			       f ~ /^(do_trace_event_raw_|__?ftrace_trace_stack)/ ||
			       f ~ /^(ftrace_stack_trace|trace_call_bpf)|^0x[0-9a-f]+$/
		}
		NR == FNR { ours[$1] = 1; next }
		match($0, /-[0-9]+ +\[[0-9]+\] /) {
			split(substr($0, RSTART + 1, RLENGTH - 3), word, / +\[/)
			pid = word[1]
			cpu = word[2]
			match($0, / [0-9]+\.[0-9]+: /)
			time = substr($0, RSTART, RLENGTH - 2) + 0
			now = ""
			if (/<stack trace>/) {
				if (depth[cpu])
					now = waiting[cpu, depth[cpu]--]
			} else if (match($0, /(sched_switch|sched_waking|softirq_raise): /)) {
				event = substr($0, RSTART, RLENGTH - 2)
				if (pid in ours && time > first - 0.001 && time < last + 0.001) {
					now = pid " " event " #" ++count[pid, event]
					frames[now] = ""
				}
				waiting[cpu, ++depth[cpu]] = now
			}
			next
		}
		/^ *=> / {
			sub(/\/0x[0-9a-f]*$/, "", $2)
			if (now in frames && !tracer($2))
				frames[now] = frames[now] " " $2
		}
		END {
			for (e in frames)
				print e ":" frames[e]
		}' tasks "$1" | sed '/ do_task_dead/d' | sort
}

# A switch from a task has the name at the event.
sed -n "s/.* prev_comm=\($pingpong\|$forktree\) prev_pid=\([0-9]*\) .*/\2/p" ftrace.txt |
	sort -u >tasks
stamp='.*-[0-9]* *\[[0-9]*\][^:]* \([0-9.]*\): .*'
first=$(sed -n "s/$stamp/\1/p" ftrace.txt | head -n 1)
last=$(sed -n "s/$stamp/\1/p" ftrace.txt | tail -n 1)
[ "$last" ] || fail "ftrace has no event"
flatten ftrace.txt >ftrace.flat
for way in native kernel; do
	"$STACKONCE" script $way.stk >ours.txt
	flatten ours.txt >ours.flat
	[ "$(wc -l <ours.flat)" -gt "$(scale 3000 400)" ] ||
		fail "$way: only $(wc -l <ours.flat) events to compare"
	grep -q ': ' ours.flat || fail "$way: no event has frames"
	diff ftrace.flat ours.flat >differ || {
		grep -c '^<' differ
		head -n 12 differ
		fail "$way: $(grep -c '^>' differ) of $(wc -l <ours.flat) stacks differ"
	}
done
note "$(wc -l <ours.flat) events with equal stacks, $(sed 's/.*#[0-9]*://' ours.flat | sort -u |
	wc -l) distinct"
