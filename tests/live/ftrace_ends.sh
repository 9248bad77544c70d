#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without BPF: however a recording ends, nothing of it stays in tracefs, and the tracing of others
# does not change: instances, options, events, filters and clock are as before.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

event=syscalls:sys_enter_getppid

# state: prints the state of the tracing of others, and the instances of this test's recorders, but
# not those of recorders that run beside this test.
state()
{
	for d in "$tracefs" "$instance"; do
		for f in "$d"/options/* "$d"/tracing_on "$d"/trace_clock "$d"/buffer_size_kb \
			"$d"/current_tracer "$d"/set_event "$d"/set_event_pid \
			"$d"/set_event_notrace_pid "$d"/tracing_cpumask "$d"/trace_options \
			"$d"/events/task/task_rename/* "$d"/events/sched/sched_switch/* \
			"$d"/events/syscalls/sys_enter_getppid/*; do
			[ ! -f "$f" ] || echo "$f: $(cat "$f" 2>&1)"
		done
	done
	ours
}

# ours: prints the instances of the recorders that this test has started.
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

# unchanged EVENT: tracefs is as before
unchanged()
{
	state >after
	diff before after >differ || {
		cat differ
		fail "tracefs has changed after $1"
	}
}

# start ARGS...: starts a recorder in the background and waits until it records.
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

record --backend ftrace -e $event --filter '__syscall_nr == 110' -o normal.stk -- \
	"$PROG/getppid" 100
[ "$(counted normal.stk $event recorded)" -eq 100 ] || fail "nothing was recorded"
unchanged "a normal end"

for signal in INT TERM HUP; do
	start -o $signal.stk
	kill -$signal "$recorder"
	rc=0
	wait "$recorder" || rc=$?
	unchanged "SIG$signal"
	[ "$rc" -eq 0 ] || fail "SIG$signal: the recorder ended with $rc"
	want_sum $signal.stk
done

# Starts that fail: late, when the events are enabled, and for a command or an output that does not
# exist.
"$STACKONCE" record -q --backend ftrace -e $event --filter 'nosuchfield == 1' -o x.stk -- \
	true 2>err && fail "an invalid filter was accepted"
[ "$(wc -l <err)" -eq 1 ] || fail "an invalid filter: not one line of messages, but: $(cat err)"
unchanged "an invalid filter"
"$STACKONCE" record -q --backend ftrace -e $event -o x.stk -- ./no-such-program 2>err &&
	fail "a command that does not exist was run"
unchanged "a command that does not exist"
"$STACKONCE" record -q --backend ftrace -e $event -o /proc/nowhere -- true 2>err &&
	fail "an output that cannot be created was opened"
unchanged "an output that cannot be created"

# A recorder that was killed leaves its instance behind.  The next recorder removes it, and no other
# one.  Recorders of other tests remove it, too, but not while one of its files is open.
start -o killed.stk
exec 8<"$tracefs/instances/stackonce.$recorder/tracing_on"
end_child KILL "$recorder"
[ -n "$(ours)" ] || fail "the killed recorder left no instance behind"
exec 8<&-
mkdir "$tracefs/instances/stackonce.$$" || fail "cannot create an instance named after this process"
instances="$instances stackonce.$$"
record --backend ftrace -e $event -o next.stk -- "$PROG/getppid" 100
[ -z "$(ours)" ] || fail "the next recorder did not remove $(ours)"
[ -d "$tracefs/instances/stackonce.$$" ] || fail "the instance of a live process was removed"
unchanged "the recorder that cleaned up"
"$STACKONCE" info killed.stk >/dev/null 2>&1 || fail "the killed recorder's file cannot be read"
note "$(wc -l <before) files of tracefs unchanged after eight ways to end"
