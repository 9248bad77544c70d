#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Our stacks, flattened, equal what ftrace's own `stacktrace` prints for the same events at the same
# time: context switches, wakeups, and softirqs, whose stacks we store in parts.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
# Names of their own: a test beside this one may run the same programs.
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

# Both are on before the workload starts and off after it ended, and both lose nothing: event k of a
# task and kind is the same event in both.
# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy -k mono -o s.stk -e sched:sched_switch -e sched:sched_waking -e irq:softirq_raise
for e in $events; do
	echo 1 >"$instance/events/$e/enable"
done
./$pingpong "$(scale 1500 200)" 0 >/dev/null
./$forktree 3 2 10 >/dev/null
for e in $events; do
	echo 0 >"$instance/events/$e/enable"
done
stop_recorder
want_sum s.stk
[ "$(info_of s.stk .totals.lost)" -le "$(($(nproc) * 6))" ] || fail "events were lost, nothing to compare"
grep -qh '^overrun: [1-9]' "$instance"/per_cpu/cpu*/stats && fail "ftrace's buffer is too small"
cat "$instance/trace" >ftrace.txt

# flatten FILE: "pid event #N: frame frame ..." per event of our tasks, N counts per task and event.
# Tasks go by number: ftrace shows the name they have at the end, we that at the event.  In ftrace a
# stack is an entry of its own after its event, and an interrupt can put events with their stacks
# between the two: a stack belongs to the last event of its CPU that has none.  Frames of the
# tracers themselves are nobody's; those in a BPF program that is gone by now are bare addresses.
flatten()
{
	awk '
		function tracer(f) {
			return f ~ /^(__traceiter_|__bpf_trace_|bpf_trace_run|bpf_prog_|perf_trace_)/ ||
			       f ~ /^(trace_event_raw_event_|trace_event_buffer_|do_trace_event_raw_)/ ||
			       f ~ /^(__?ftrace_trace_stack|ftrace_stack_trace|trace_call_bpf)|^0x[0-9a-f]+$/
		}
		NR == FNR { ours[$1] = 1; next }
		match($0, /-[0-9]+ +\[[0-9]+\] /) {
			split(substr($0, RSTART + 1, RLENGTH - 3), word, / +\[/)
			pid = word[1]
			cpu = word[2]
			now = ""
			if (/<stack trace>/) {
				if (depth[cpu])
					now = waiting[cpu, depth[cpu]--]
			} else if (match($0, /(sched_switch|sched_waking|softirq_raise): /)) {
				event = substr($0, RSTART, RLENGTH - 2)
				now = pid " " event " #" ++count[pid, event]
				waiting[cpu, ++depth[cpu]] = now
				if (pid in ours)
					frames[now] = ""
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
		}' tasks "$1" | sort
}

sed -n "s/^ *\($pingpong\|$forktree\)-\([0-9]*\) .*/\2/p" ftrace.txt | sort -u >tasks
"$STACKONCE" script s.stk >ours.txt
flatten ftrace.txt >ftrace.flat
flatten ours.txt >ours.flat
[ "$(wc -l <ours.flat)" -gt "$(scale 3000 400)" ] || fail "only $(wc -l <ours.flat) events to compare"
grep -q ': ' ours.flat || fail "no frames to compare"
diff ftrace.flat ours.flat >differ || {
	grep -c '^<' differ
	head -n 12 differ
	fail "$(grep -c '^>' differ) of $(wc -l <ours.flat) stacks differ"
}
note "$(wc -l <ours.flat) events with equal stacks, $(sed 's/.*#[0-9]*://' ours.flat | sort -u |
	wc -l) distinct"
