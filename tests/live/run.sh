#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs the live tests on the running kernel, natively and inside the test machines:
#   run.sh STACKONCE PROG-DIRECTORY [TEST...]
# Without TEST it runs all tests but those in $LIVE_WITHOUT, natively two at a time.  A test with
# a line "# alone: WHY" runs when the others have ended, one with "# on request: WHY" only if it is
# named.  LIVE_ALL=1 selects the long variants, LIVE_STRESS=1 adds a load beside the tests.
# $LIVE_OUT receives results (NAME, RESULT, PASSED, FAILED, SKIPPED, SECONDS separated by tabs),
# skips, and a NAME.log for each test; what a failed one leaves is in $LIVE_OUT-failed/NAME.
set -u

STACKONCE=$1
PROG=$2
shift 2
LIVE=$(cd "$(dirname "$0")" && pwd)
LIVE_OUT=${LIVE_OUT:-/tmp/stackonce-live}
export STACKONCE PROG LIVE LIVE_OUT
# shellcheck source=tests/tracefs.sh
. "$LIVE/../tracefs.sh"
# shellcheck source=tests/process.sh
. "$LIVE/../process.sh"

rm -rf "${LIVE_OUT:?}"/*
mkdir -p "$LIVE_OUT/taken"
: >"$LIVE_OUT/results"
: >"$LIVE_OUT/skips"

# report NAME RESULT SECONDS REASON: writes each part at once, because other workers report, too.
report()
{
	case $2 in
	PASS)
		printf 'ok   %s (%s s) %s\n' "$1" "$3" "$4"
		printf '%s\tOK\t1\t0\t0\t%s\n' "$1" "$3" >>"$LIVE_OUT/results"
		;;
	SKIP)
		printf 'skip %s: %s\n' "$1" "$4"
		printf '%s\tSKIP\t0\t0\t1\t%s\n' "$1" "$3" >>"$LIVE_OUT/results"
		printf '%s: %s\n' "$1" "$4" >>"$LIVE_OUT/skips"
		;;
	*)
		printf '%s\tFAIL\t0\t1\t0\t%s\n' "$1" "$3" >>"$LIVE_OUT/results"
		log=
		[ ! -f "$LIVE_OUT/$1.log" ] ||
			log=$(tail -n 100 "$LIVE_OUT/$1.log" | sed 's/^/    /')
		printf 'FAIL %s: %s\n%s\n' "$1" "$4" "$log"
		;;
	esac
}

# refused: prints why recording is impossible on this kernel, or nothing if it is possible.  It does
# not ask stackonce, because a broken recorder must not be mistaken for a kernel that refuses.
refused()
{
	if [ "$(id -u)" -ne 0 ]; then
		echo "recording needs root"
	elif [ ! -d "$tracefs/events" ]; then
		echo "tracefs cannot be mounted here"
	elif grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2>/dev/null; then
		echo "lockdown is set to confidentiality: BPF may not read kernel memory"
	elif command -v bpftool >/dev/null 2>&1 && ! bpftool prog list >/dev/null 2>&1; then
		echo "bpf() is refused: $(bpftool prog list 2>&1 | tail -n 1)"
	fi
}

# limit_of FILE: prints after how many seconds a test is taken to hang: far more than any takes,
# even in an emulated machine or beside other work.  A line "# timeout: SECONDS" replaces the
# default.  It is longer in a VM with many CPUs, which one thread emulates.
limit_of()
{
	limit=$(sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "$1")
	limit=${limit:-1200}
	[ -z "${LIVE_VM:-}" ] || limit=$((limit * (1 + $(nproc) / 8)))
	echo "$limit"
}

# uptime_cs: prints the uptime in hundredths of a second, which date(1) of busybox cannot print.
uptime_cs()
{
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}"
}

# run_test FILE LOG: returns the test's exit status.  Where env(1) can restore default signals, the
# test runs in the background, so that a worker that is terminated can end it.  A shell's background
# jobs ignore SIGINT otherwise, unlike a test that is started from a terminal.
run_test()
{
	if [ -z "$defaults" ]; then
		timeout -k 10 "$(limit_of "$1")" sh "$1" >"$2" 2>&1 </dev/null
		return
	fi
	# shellcheck disable=SC2086 # a command and its option
	timeout -k 10 "$(limit_of "$1")" $defaults sh "$1" >"$2" 2>&1 </dev/null &
	test_pid=$!
	wait "$test_pid"
}

run_one()
{
	name=$1
	if [ ! -f "$LIVE/$name.sh" ]; then
		report "$name" FAIL 0 "this test does not exist"
		return
	fi
	if [ -n "$why" ]; then
		# A policy is a reason to skip, but the test machines have no policy.
		report "$name" "$([ -n "${LIVE_VM:-}" ] && echo FAIL || echo SKIP)" 0 "$why"
		return
	fi
	LIVE_REASON=$LIVE_OUT/$name.reason
	export LIVE_REASON
	started=$(uptime_cs)
	for _ in 1 2 3; do
		rc=0
		run_test "$LIVE/$name.sh" "$LIVE_OUT/$name.log" || rc=$?
		[ "$rc" -eq 75 ] || break
		sed -n "s/^spoilt:/spoilt $name:/p" "$LIVE_OUT/$name.log"
	done
	took=$(echo "$started $(uptime_cs)" | awk '{ printf "%.1f", ($2 - $1) / 100 }')
	case $rc in
	0) report "$name" PASS "$took" "$(sed -n 's/^# //p' "$LIVE_OUT/$name.log" | tail -n 1)" ;;
	77)
		reason=$(cat "$LIVE_REASON" 2>/dev/null)
		if [ -n "$reason" ]; then
			report "$name" SKIP "$took" "$reason"
		else
			report "$name" FAIL "$took" "skipped without a reason"
		fi
		;;
	124 | 137 | 143)
		report "$name" FAIL "$took" "did not end within $(limit_of "$LIVE/$name.sh") s"
		;;
	*) report "$name" FAIL "$took" "exit status $rc" ;;
	esac
}

# work TEST...: runs the tests that no other worker has taken.
work()
{
	test_pid=
	trap 'trap "" TERM; end_child TERM $test_pid; exit 143' TERM
	for test; do
		mkdir "$LIVE_OUT/taken/$test" 2>/dev/null || continue
		run_one "$test"
	done
}

# work_at_once NUMBER TEST...: runs the tests with NUMBER workers.
work_at_once()
{
	jobs=$1
	shift
	workers=
	for _ in $(seq 1 "$jobs"); do
		work "$@" &
		workers="$workers $!"
	done
	for w in $workers; do
		wait "$w"
	done
	workers=
}

all_tests()
{
	for t in "$LIVE"/*.sh; do
		name=$(basename "$t" .sh)
		case $name in
		lib | lib_* | run) continue ;;
		esac
		! grep -q '^# on request: ' "$t" || continue
		case " ${LIVE_WITHOUT:-} " in
		*" $name "*) ;;
		*) echo "$name" ;;
		esac
	done
}

# alone TEST...: prints those tests that must not run beside others.
alone()
{
	for test; do
		! grep -qs '^# alone: ' "$LIVE/$test.sh" || echo "$test"
	done
}

# not_alone TEST...: prints the other ones, first those that may take longest.
not_alone()
{
	for test; do
		grep -qs '^# alone: ' "$LIVE/$test.sh" ||
			echo "$(grep -qs '^# timeout: ' "$LIVE/$test.sh"; echo $?) $test"
	done | sort -s -n -k 1,1 | cut -d ' ' -f 2
}

end()
{
	trap '' INT TERM HUP
	# shellcheck disable=SC2086 # numbers
	end_child TERM $workers $load
	tracefs_unmount
}

workers=
load=
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
tracefs_mount
why=$(refused)
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # names without blanks
	set -- $(all_tests)
fi
if [ -n "${LIVE_STRESS:-}" ]; then
	"$PROG/load" &
	load=$!
fi
# Emulated machines, and those whose env(1) has no --default-signal, run the tests one by one.
defaults='env --default-signal=INT,QUIT'
if [ -n "${LIVE_VM:-}" ] || ! $defaults true 2>/dev/null; then
	defaults=
	work "$@"
else
	# shellcheck disable=SC2046 # names without blanks
	work_at_once "${LIVE_JOBS:-$(($(nproc) > 1 ? 2 : 1))}" $(not_alone "$@")
	# shellcheck disable=SC2046
	work_at_once 1 $(alone "$@")
fi
[ -z "$load" ] || is_child "$load" || report load FAIL 0 "the load ended before the tests"
# A worker that is killed, by the OOM killer for example, does not report its test.
for test; do
	cut -f 1 "$LIVE_OUT/results" | grep -qxF "$test" || report "$test" FAIL 0 \
		"its worker was killed before it reported a result"
done
! cut -f 2 "$LIVE_OUT/results" | grep -qx FAIL
