# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2016 # jq programs have variables of their own
# What the live tests share.  A test is a shell script (dash and busybox) that sources this file and
# ends with 0 (passed), 77 (skipped, the reason is in $LIVE_REASON) or anything else (failed).  It
# gets from run.sh: STACKONCE (the command), PROG (directory of the workloads), LIVE (this
# directory), LIVE_VM (not empty inside a virtual machine without hardware help: keep loads small).

# shellcheck source=tests/process.sh
. "$LIVE/../process.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-live.XXXXXX")
test_pids=
instances=

# What a test must put back; it defines its own after sourcing this file.
restore()
{
	:
}

# Whatever a test started, mounted or made goes away with it.
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

skip()
{
	printf '%s\n' "$*" >"${LIVE_REASON:-/dev/null}"
	exit 77
}

# scale NATIVE VM [ALL]: how much work to do here; ALL natively in long variants.
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

# For recordings that must not lose anything: on a busy machine the recorder may have to wait for its CPU.
# shellcheck disable=SC2034 # for the tests
roomy="--buffer-size $(scale 64M 16M)"

# until_true SECONDS COMMAND...: whether it succeeded by then.
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

# while_runs PID COMMAND...: waits until the command succeeds; false: the process ended before that.
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
	command -v "$1" >/dev/null 2>&1 || skip "no $1 here"
}

need_tracefs()
{
	[ -d "$tracefs/events" ] || skip "no tracefs"
}

# new_instance: an ftrace instance of this test's own, its directory is in $instance.
new_instance()
{
	name=stackonce-live-$$-$(echo "$instances" | wc -w)
	mkdir "$tracefs/instances/$name" || skip "tracefs refuses instances"
	instances="$instances $name"
	# shellcheck disable=SC2034 # for the tests
	instance=$tracefs/instances/$name
}

# record ARGS...: a recording that must work; its messages are shown when it does not.
record()
{
	"$STACKONCE" record -q "$@" >"$work/record.out" 2>"$work/record.err" || {
		rc=$?
		cat "$work/record.out" "$work/record.err"
		fail "record $* ended with $rc"
	}
}

# record_bg ARGS...: the same in the background, once it is armed; its pid is in $recorder.  It is
# armed when the accounting says that something happened: one of the events must be a frequent one.
record_bg()
{
	"$STACKONCE" record -q "$@" >"$work/record_bg.out" 2>"$work/record_bg.err" &
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

# stop_recorder: asks the background recorder to end and waits for it.
stop_recorder()
{
	kill -INT "$recorder"
	wait_recorder
}

# wait_recorder: waits for the background recorder to end, which must work.
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
# FOREIGN of the lost calls may be other processes', such as one in progress at the start.
want_calls()
{
	sum=$(($3 + $4))
	{ [ "$3" -le "$2" ] && [ "$sum" -ge "$2" ] && [ "$sum" -le "$(($2 + $5))" ]; } ||
		fail "$1: $3 calls and $4 lost of $2, $5 of them maybe others'"
}

# edge_of FILE EVENT: how many were lost on the edge of the recording.
edge_of()
{
	info_of "$1" --arg name "$2" '.events[] | select(.name == $name) | .lost_by.edge'
}

# info_of FILE JQ-ARGS...: one answer from `info --json`.
info_of()
{
	file=$1
	shift
	"$STACKONCE" info --json "$file" | jq "$@"
}

# info_true FILE JQ-ARGS...: whether the answer is true.  (jq -e takes no answer for a yes.)
info_true()
{
	[ "$(info_of "$@")" = true ]
}

# want_json COMMAND OUTPUT: what `stackonce COMMAND --json` printed into that file is as docs/json.md says.
# The emulated machines have neither the document nor Python.
want_json()
{
	doc=$LIVE/../../docs/json.md
	if [ ! -e "$doc" ] || ! command -v python3 >/dev/null; then
		return 0
	fi
	python3 "$LIVE/../unit/json_schema.py" "$doc" "$1" <"$2" >"$work/json.wrong" || {
		cat "$work/json.wrong"
		fail "$1 --json is not as docs/json.md says"
	}
}

# counted FILE EVENT FIELD: a number of one event.
counted()
{
	info_of "$1" -r --arg e "$2" --arg f "$3" '[.events[] | select(.name == $e) | .[$f]] | add // 0'
}

# want_sum FILE [WHY]: every event adds up, every loss has a name, edges stay within their bound, walked
# kernel stacks are the kernel's; WHY: they may differ.  One jq for all of it: it takes half a second to
# start in an emulated machine.
want_sum()
{
	cpus=$(getconf _NPROCESSORS_CONF 2>/dev/null || nproc)
	info_of "$1" -r --argjson max "$cpus" --arg spoilt "${2:-}" '
		(.events[] | select(.happened != .recorded + .filtered + .lost) |
			"\(.name): \(.happened) != \(.recorded) + \(.filtered) + \(.lost): \(.)"),
		(.totals | select(.happened != .recorded + .filtered + .lost) |
			"totals: \(.happened) != \(.recorded) + \(.filtered) + \(.lost)"),
		(select(.accounted != true) | "no accounting"),
		(.events[] | select(.lost != ([.lost_by[]] | add) or .filtered != ([.filtered_by[]] | add)) |
			"filtered or lost without a reason: \(.name): \(.)"),
		(.events[] | select(.lost_by.edge > $max) |
			"more edge losses than one per CPU: \(.name): \(.lost_by.edge)"),
		(.events[] | select(.lost_by.unknown > 0) |
			"lost for an unknown reason: \(.name): \(.)"),
		(.kernel_unwind // {} | select($spoilt == "" and .checks.differed > 0) |
			"walked stacks differ from those of the kernel: \(.)"),
		"recorded \(.totals.recorded)"' >"$work/sum" || fail "the accounting of $1 cannot be read"
	recorded=$(sed -n 's/^recorded //p' "$work/sum")
	if [ "$(wc -l <"$work/sum")" -ne 1 ] || [ -z "$recorded" ]; then
		cat "$work/sum"
		fail "the accounting does not add up"
	fi
	want_recorded "$1" "$recorded"
}

# missing_from FILE: a line for each event that lost more than its edges.  Signals lost as nested do not
# count: where an interrupt hits a BPF program and a timer sends a signal, the event has no fields for the
# filter of the preset lifecycle to judge.  Any program beside the test may have such timers; the tests'
# own programs send signals by system calls, where no BPF program is interrupted.
missing_from()
{
	info_of "$1" -r '.events[] |
		(if .name == "signal:signal_generate" then .lost_by.nested else 0 end) as $timers |
		select(.lost > .lost_by.edge + $timers) | "\(.name): \(.lost_by)"'
}

# seen_by_bpf: of ftrace's text on stdin the events that BPF can see.  There are machines where no BPF
# program runs while a thread of PID 1 does, not even for what an interrupt does then.
seen_by_bpf()
{
	ls /proc/1/task >"$work/init.tids"
	awk 'NR == FNR { hidden[$1]; next }
		match($0, /-[0-9]+ +\[[0-9]+\] /) {
			split(substr($0, RSTART + 1, RLENGTH), word, / /)
			if (!(word[1] in hidden))
				print
		}' "$work/init.tids" -
}

# want_recorded FILE NUMBER: so many events were recorded, and come out of the file.
want_recorded()
{
	events=$("$STACKONCE" script --json --fields time "$1" | grep -vc '"type":"loss"')
	[ "$2" -eq "$events" ] || fail "recorded $2 events, script prints $events"
}
