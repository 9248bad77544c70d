#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The same event has the same stack id with and without other tracers on its tracepoint: ftrace with
# stacks, two more BPF programs, and perf where it is installed.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
n=$(scale 2000 500)
new_instance
echo 1 >"$instance/options/stacktrace"
ftrace=$instance/events/raw_syscalls/sys_enter/enable

# phase NAME: runs the workload under this name; the events of a phase are selected by comm.
phase()
{
	cp "$PROG/getppid" "$1"
	"./$1" "$n" >/dev/null
}

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy -o ids.stk -e raw_syscalls:sys_enter --filter 'id == 110' \
	-e sched:sched_process_exit
phase alone
echo 1 >"$ftrace"
phase ftrace
echo 0 >"$ftrace"
phases='alone ftrace'
echo raw_syscalls:sys_enter >events
cp "$PROG/getppid" programs
rc=0
"$PROG/walk_dropin" right events ./programs "$n" >walks 2>err || rc=$?
case $rc in
0)
	# walk_dropin attaches a tracepoint program, a raw tracepoint program, and samples.
	[ "$(sed -n 's/^at_events //p' walks)" -eq 2 ] || fail "walk_dropin: $(cat walks err)"
	phases="$phases programs"
	;;
77) note "walk_dropin was skipped: $(tail -n 1 err)" ;;
*) fail "walk_dropin ended with $rc: $(cat walks err)" ;;
esac
if command -v perf >/dev/null 2>&1; then
	mkfifo leave
	perf record -q -a -g -e raw_syscalls:sys_enter -e sched:sched_process_exit -o perf.data -- \
		sh -c ': >measured; exec cat leave' >/dev/null 2>&1 &
	perf=$!
	test_pids="$test_pids $perf"
	# perf starts its command when its events are enabled
	while_runs "$perf" [ -e measured ] || fail "perf ended before it measured"
	phase beside-perf
	is_child "$perf" || fail "perf ended before the workload did"
	: >leave
	wait "$perf" || fail "perf ended with $?"
	phases="$phases beside-perf"
else
	note "perf is not installed"
fi
phase after
phases="$phases after"
stop_recorder
want_sum ids.stk

# ids_of PHASE EVENT FILE: writes the stack ids of the events, each once; every event has a stack.
ids_of()
{
	"$STACKONCE" script --json --comm "$1" --event "$2" ids.stk |
		jq 'select(.type == "event").kstack' | sort -u >"$3"
	[ -s "$3" ] || fail "phase $1 has no events $2"
	! grep -vx '[0-9][0-9]*' "$3" || fail "phase $1 has events $2 without a stack"
}

for p in $phases; do
	ids_of "$p" raw_syscalls:sys_enter "$p.set"
	[ "$(wc -l <"$p.set")" -eq 1 ] ||
		fail "phase $p has $(wc -l <"$p.set") stack ids for one call path"
	cmp alone.set "$p.set" || fail "the stack id of phase $p differs from phase alone"
	ids_of "$p" sched:sched_process_exit "$p.exit"
	cmp alone.exit "$p.exit" ||
		fail "the exit of phase $p has another stack id than in phase alone"
done
note "the stack id is the same in the phases $phases"
