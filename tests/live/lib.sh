# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2016 # jq programs have variables of their own
# Shared functions of the live tests.  A test is a shell script (dash and busybox) that sources this
# file and exits with 0 (passed), 77 (skipped, the reason is in $LIVE_REASON), 75 (the machine has
# spoilt it: run.sh runs it again, up to twice) or anything else (failed).  run.sh sets STACKONCE
# (the command), PROG (directory of the workloads), LIVE (this directory) and LIVE_VM (not empty in
# a virtual machine without hardware virtualization, where loads must be small).  LIVE_FIELDS is the
# value of --fields for recordings, if it is set.

# shellcheck source=tests/process.sh
. "$LIVE/../process.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-live.XXXXXX")
test_pids=
instances=

# Restores what the test changed on the machine.  A test overrides it after sourcing this file.
restore()
{
	:
}

# keep: what a failed test leaves is in $LIVE_OUT-failed/TEST until it fails again, but for large
# files.  Not in a test machine, whose disk is its memory.
keep()
{
	kept=$LIVE_OUT-failed/$(basename "$0" .sh)
	rm -rf "$kept"
	find "$work" -xdev -type f -size +65536k -exec rm {} +
	mkdir -p "${kept%/*}" && cp -Rx "$work" "$kept" && note "its files are in $kept"
}

# Removes whatever the test started, mounted or created.
cleanup()
{
	rc=$?
	trap - EXIT INT TERM
	restore
	# shellcheck disable=SC2086 # numbers
	end_child KILL $test_pids
	for i in $instances; do
		echo 0 >"$tracefs/instances/$i/tracing_on" 2>/dev/null || :
		rmdir "$tracefs/instances/$i" 2>/dev/null || :
	done
	if mountpoint -q "$work/mnt" 2>/dev/null; then
		umount "$work/mnt" || :
	fi
	case $rc in
	0 | 77 | 130 | 143) ;;
	*) [ -n "${LIVE_VM:-}" ] || [ -z "${LIVE_OUT:-}" ] || keep ;;
	esac
	rm -rf "$work"
	exit "$rc"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

tracefs=${TRACEFS:-/sys/kernel/tracing}

note()
{
	printf '# %s\n' "$*"
}

fail()
{
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# spoilt WHAT: the machine did what may make a recording worse than promised, and it is worse.
spoilt()
{
	printf 'spoilt: %s\n' "$*"
	exit 75
}

skip()
{
	printf '%s\n' "$*" >"${LIVE_REASON:-/dev/null}"
	exit 77
}

# scale NATIVE VM [ALL]: prints the amount of work for this machine; ALL is for the long variant,
# which runs natively.
scale()
{
	if [ -n "${LIVE_VM:-}" ]; then
		echo "$2"
	elif [ -n "${LIVE_ALL:-}" ]; then
		echo "${3:-$1}"
	else
		echo "$1"
	fi
}

# For recordings that must not lose anything, and those whose first user stacks must be whole, since
# their copies are cut when a ring fills up: on a busy machine the recorder may have to wait for its
# CPU.
# shellcheck disable=SC2034 # for the tests
roomy="--buffer-size $(scale 64M 16M)"

# until_true SECONDS COMMAND...: retries the command until it succeeds; false after that time.
until_true()
{
	tries=$(($1 * 5 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# while_runs PID COMMAND...: waits until the command succeeds; false if the process ended first.
while_runs()
{
	runs=$1
	shift
	until "$@"; do
		is_child "$runs" || {
			"$@"
			return
		}
		sleep 0.1
	done
}

need_tool()
{
	command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed"
}

need_tracefs()
{
	[ -d "$tracefs/events" ] || skip "tracefs is not mounted"
}

# new_instance: creates an ftrace instance for this test; $instance is its directory.
new_instance()
{
	name=stackonce-live-$$-$(echo "$instances" | wc -w)
	[ ! -e "$tracefs/instances/$name" ] || fail "the instance $name exists"
	mkdir "$tracefs/instances/$name" || skip "tracefs refuses to create an instance"
	instances="$instances $name"
	# shellcheck disable=SC2034 # for the tests
	instance=$tracefs/instances/$name
}

# fields_way ARGS...: $way is the option for $LIVE_FIELDS, where a recording takes it.
fields_way()
{
	way=
	case " $* " in
	*" --backend ftrace "*) ;;
	*) way=${LIVE_FIELDS:+--fields $LIVE_FIELDS} ;;
	esac
}

# record ARGS...: makes a recording, which must succeed; on failure its messages are shown.
record()
{
	fields_way "$@"
	# shellcheck disable=SC2086 # an option and its value
	"$STACKONCE" record -q $way "$@" >"$work/record.out" 2>"$work/record.err" || {
		rc=$?
		cat "$work/record.out" "$work/record.err"
		fail "record $* ended with $rc"
	}
}

# record_bg ARGS...: starts a recording in the background and returns when it is armed; $recorder is
# its PID.  It is armed when the accounting says that something happened, so one of the events must
# be frequent.
record_bg()
{
	fields_way "$@"
	# shellcheck disable=SC2086
	"$STACKONCE" record -q $way "$@" >"$work/record_bg.out" 2>"$work/record_bg.err" &
	recorder=$!
	test_pids="$test_pids $recorder"
	out=trace.stk
	prev=
	for a; do
		[ "$prev" = -o ] && out=$a
		prev=$a
	done
	wait_armed "$recorder" "$out"
}

# is_armed FILE: the accounting in FILE says that something happened.
is_armed()
{
	[ -s "$1" ] && info_true "$1" '.totals.happened > 0' 2>/dev/null
}

# wait_armed PID FILE
wait_armed()
{
	while_runs "$1" is_armed "$2" || {
		cat "$work"/record_bg.err
		fail "the recorder ended before it was armed"
	}
}

# stop_recorder: interrupts the background recorder and waits for it.
stop_recorder()
{
	kill -INT "$recorder"
	wait_recorder
}

# wait_recorder: waits for the background recorder, which must succeed.
wait_recorder()
{
	rc=0
	wait "$recorder" || rc=$?
	[ "$rc" -eq 0 ] || {
		cat "$work/record_bg.err"
		fail "the recorder ended with $rc"
	}
}

# want_calls WHAT CALLS SEEN LOST FOREIGN: all calls of the command were recorded or lost.  Up to
# FOREIGN of the lost calls may belong to other processes, such as one in progress at the start.
want_calls()
{
	sum=$(($3 + $4))
	{ [ "$3" -le "$2" ] && [ "$sum" -ge "$2" ] && [ "$sum" -le "$(($2 + $5))" ]; } ||
		fail "$1: $3 of $2 calls recorded and $4 lost, up to $5 of them of other processes"
}

# edge_of FILE EVENT: prints how many events were lost on the edge of the recording.
edge_of()
{
	info_of "$1" --arg name "$2" '.events[] | select(.name == $name) | .lost_by.edge'
}

# info_of FILE JQ-ARGS...: filters `info --json` of the file.
info_of()
{
	file=$1
	shift
	"$STACKONCE" info --json "$file" | jq "$@"
}

# info_true FILE JQ-ARGS...: whether the filter prints true.  (jq -e takes no output for a yes.)
info_true()
{
	[ "$(info_of "$@")" = true ]
}

# want_json COMMAND OUTPUT: the file OUTPUT of `stackonce COMMAND --json` conforms to docs/json.md.
# The emulated machines have neither the document nor Python.
want_json()
{
	doc=$LIVE/../../docs/json.md
	[ -e "$doc" ] || return 0
	command -v python3 >/dev/null || fail "python3 is not installed, but docs/json.md exists"
	# Debian's first: another one may be a wrapper that takes a second to start.
	PATH=/usr/bin:$PATH python3 "$LIVE/../unit/json_schema.py" "$doc" "$1" <"$2" \
		>"$work/json.wrong" || {
		cat "$work/json.wrong"
		fail "$1 --json does not conform to docs/json.md"
	}
}

# counted FILE EVENT FIELD: prints one counter of one event type.
counted()
{
	info_of "$1" -r --arg e "$2" --arg f "$3" \
		'[.events[] | select(.name == $e) | getpath($f / ".")] | add // 0'
}

# want_sum FILE [WHY]: the counters of every event type add up, every loss has a reason, edge losses
# stay within their bound, and walked kernel stacks equal those of the kernel unless WHY is given.
# All in one jq, because jq takes half a second to start in an emulated machine.
want_sum()
{
	cpus=$(getconf _NPROCESSORS_CONF 2>/dev/null || nproc)
	info_of "$1" -r --argjson max "$cpus" --arg spoilt "${2:-}" '
		(.events[] | select(.happened != .recorded + .filtered + .lost) |
			"\(.name): \(.happened) != \(.recorded) + \(.filtered) + \(.lost): \(.)"),
		(.totals | select(.happened != .recorded + .filtered + .lost) |
			"totals: \(.happened) != \(.recorded) + \(.filtered) + \(.lost)"),
		(select(.accounted != true) | "no accounting"),
		(.events[] | select(.lost != ([.lost_by[]] | add) or
				.filtered != ([.filtered_by[]] | add)) |
			"filtered or lost without a reason: \(.name): \(.)"),
		(.events[] | select(.lost_by.edge > $max) |
			"more edge losses than one per CPU: \(.name): \(.lost_by.edge)"),
		(.events[] | select(.lost_by.unknown > 0) |
			"lost for an unknown reason: \(.name): \(.)"),
		(.kernel_unwind // {} | select($spoilt == "" and .checks.differed > 0) |
			"walked stacks differ from those of the kernel: \(.)"),
		"recorded \(.totals.recorded)"' >"$work/sum" ||
		fail "the accounting of $1 cannot be read"
	recorded=$(sed -n 's/^recorded //p' "$work/sum")
	if [ "$(wc -l <"$work/sum")" -ne 1 ] || [ -z "$recorded" ]; then
		cat "$work/sum"
		fail "the accounting does not add up"
	fi
	want_recorded "$1" "$recorded"
}

# missing_from FILE: prints a line for each event type with losses other than edge losses.  Signals
# lost as nested do not count: where an interrupt hits a BPF program and a timer sends a signal, the
# event has no fields for the filter of the preset lifecycle.  Any program beside the test may have
# such timers; the tests' own programs send signals by system calls, where no BPF program is
# interrupted.
missing_from()
{
	info_of "$1" -r '.events[] |
		(if .name == "signal:signal_generate" then .lost_by.nested else 0 end) as $timers |
		select(.lost > .lost_by.edge + $timers) | "\(.name): \(.lost_by)"'
}

# follow_init: from now on init_threads knows all threads of PID 1, also those that end meanwhile.
follow_init()
{
	main_instance=${instance:-}
	new_instance
	init_instance=$instance
	instance=$main_instance
	echo 'clone_flags & 0x10000' >"$init_instance/events/task/task_newtask/filter"
	echo 1 >"$init_instance/events/task/task_newtask/enable"
	ls /proc/1/task >"$work/init.tids"
}

# init_threads: prints the threads that PID 1 has had since follow_init.
init_threads()
{
	! grep -q '^overrun: [1-9]' "$init_instance"/per_cpu/cpu*/stats ||
		fail "ftrace has lost threads of PID 1"
	awk 'NR == FNR { init[$1]; next }
		/ task_newtask: pid=/ {
			parent = child = $0
			sub(/ +\[[0-9]+\] .*/, "", parent)
			sub(/.*-/, "", parent)
			sub(/.* task_newtask: pid=/, "", child)
			sub(/ .*/, "", child)
			if (parent in init)
				init[child]
		}
		END { for (tid in init) print tid }' "$work/init.tids" "$init_instance/trace"
}

# seen_by_bpf: passes those events of ftrace's text that BPF can see.  On some machines no BPF
# program runs while a thread of PID 1 does, not even for events in an interrupt.
seen_by_bpf()
{
	init_threads >"$work/init.all"
	awk 'NR == FNR { hidden[$1]; next }
		match($0, /-[0-9]+ +(\([ 0-9-]+\) +)?\[[0-9]+\] /) {
			tid = substr($0, RSTART + 1, RLENGTH)
			sub(/ .*/, "", tid)
			if (!(tid in hidden))
				print
		}' "$work/init.all" -
}

# watch_switches COMM: ftrace records the switches from and to tasks of this name, in $instance.
watch_switches()
{
	need_tracefs
	new_instance
	follow_init
	echo "prev_comm == \"$1\" || next_comm == \"$1\"" \
		>"$instance/events/sched/sched_switch/filter"
	echo 1 >"$instance/events/sched/sched_switch/enable"
}

# want_switches COMM OFF ON: such tasks, which one task forked, have left a CPU OFF times, and all
# but the first one got it before, as they did ON times.  Missing may be switches from PID 1, and as
# many as are missing in ftrace, too: on some machines it does not see all that idle tasks and PID 1
# do.  A recording may end while the task that it has waited for leaves its CPU for the last time.
want_switches()
{
	echo 0 >"$instance/events/sched/sched_switch/enable"
	left=$(grep -c "prev_comm=$1 " "$instance/trace")
	came=$(grep -c "next_comm=$1 " "$instance/trace")
	hidden=$((came - $(seen_by_bpf <"$instance/trace" | grep -c "next_comm=$1 ")))
	missing=$((left - 1 - $3))
	if [ "$2" -gt "$left" ] || [ "$2" -lt $((left - 1)) ] || [ $missing -lt 0 ] ||
		[ $missing -gt $((hidden + left - 1 - came + left - $2)) ]; then
		cat "$instance/trace"
		fail "$1 left a CPU $2 of $left times, and got one $3 times, of which ftrace has" \
			"$came, $hidden of them from PID 1"
	fi
}

# printed FILE OPTION...: prints how many events script prints; losses are no events.
printed()
{
	file=$1
	shift
	"$STACKONCE" script --json "$@" "$file" | grep -c '"type":"event"'
}

# want_recorded FILE NUMBER: script prints as many events as the accounting says were recorded.
want_recorded()
{
	events=$(printed "$1" --fields time)
	[ "$2" -eq "$events" ] || fail "$2 events were recorded, but script prints $events"
}
