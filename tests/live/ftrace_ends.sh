#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Without BPF: whatever way a recording ends, nothing of it stays in tracefs, and nobody else's tracing
# is touched: instances, options, events, filters and clock are as before.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

event=syscalls:sys_enter_getppid

# state: what the tracing of others looks like, and which instances there are but those of recorders
# that run beside this test.
state()
{
	for d in "$tracefs" "$instance"; do
		for f in "$d"/options/* "$d"/tracing_on "$d"/trace_clock "$d"/buffer_size_kb \
			"$d"/current_tracer "$d"/set_event "$d"/set_event_pid "$d"/set_event_notrace_pid \
			"$d"/tracing_cpumask "$d"/trace_options; do
			[ ! -f "$f" ] || echo "$f: $(cat "$f" 2>&1)"
		done
	done
	ours
}

# ours: the instances of recorders that this test has started.
ours()
{
	for i in "$tracefs"/instances/stackonce.*; do
		[ -d "$i" ] || continue
		pid=${i##*/stackonce.}
		pid=${pid%%.*}
		case " $started " in
		*" $pid "*) echo "$i" ;;
		esac
	done
}

# unchanged WHEN
unchanged()
{
	state >after
	diff before after >differ || {
		cat differ
		fail "after $1 tracefs is not as before"
	}
}

# start ARGS...: a recorder in the background, when it is at work.
start()
{
	record_bg --backend ftrace -a -e $event -e sched:sched_switch "$@"
	started="$started $recorder"
	[ -n "$(ours)" ] || fail "the recorder has no instance"
}

started=
new_instance
echo 1 >"$instance/events/sched/sched_switch/enable"
state >before

record --backend ftrace -e $event --filter '__syscall_nr == 110' -o normal.stk -- "$PROG/getppid" 100
[ "$(counted normal.stk $event recorded)" -eq 100 ] || fail "nothing was recorded"
unchanged "a normal end"

for signal in INT TERM HUP; do
	start -o $signal.stk
	kill -$signal "$recorder"
	rc=0
	wait "$recorder" || rc=$?
	unchanged "SIG$signal"
	[ "$signal" = HUP ] || [ "$rc" -eq 0 ] || fail "SIG$signal: the recorder ended with $rc"
	[ "$signal" = HUP ] || want_sum $signal.stk
done

# Starts that fail: late, when the events are switched on, and later, when there is nothing to run.
"$STACKONCE" record -q --backend ftrace -e $event --filter 'nosuchfield == 1' -o x.stk -- true 2>err &&
	fail "a filter that is none was taken"
[ "$(wc -l <err)" -eq 1 ] || fail "not one line, but: $(cat err)"
unchanged "a filter that is refused"
"$STACKONCE" record -q --backend ftrace -e $event -o x.stk -- ./no-such-program 2>err &&
	fail "a command that is none was run"
unchanged "a command that is none"
"$STACKONCE" record -q --backend ftrace -e $event -o /proc/nowhere -- true 2>err &&
	fail "an output that is none was opened"
unchanged "an output that is none"

# Killed: what stays is removed by the next recorder, and only that.
start -o killed.stk
end_child KILL "$recorder"
[ -n "$(ours)" ] || fail "nothing was left by the recorder that was killed"
mkdir "$tracefs/instances/stackonce.$$" || fail "an instance named as that of a live process"
instances="$instances stackonce.$$"
record --backend ftrace -e $event -o next.stk -- "$PROG/getppid" 100
[ -z "$(ours)" ] || fail "left over: $(ours)"
[ -d "$tracefs/instances/stackonce.$$" ] || fail "the instance of a live process was removed"
unchanged "the recorder that cleaned up"
"$STACKONCE" info killed.stk >/dev/null 2>&1 || fail "the recording that was killed cannot be read"
note "$(wc -l <before) files of tracefs as before, eight ways to end"
