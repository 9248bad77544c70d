#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs the live tests on the kernel it is running on, natively and inside the test machines:
#   run.sh STACKONCE PROG-DIRECTORY [TEST...]
# Without tests all but those of $LIVE_WITHOUT.
# In $LIVE_OUT: results (NAME, RESULT, PASSED, FAILED, SKIPPED with tabs), skips, NAME.log each.
set -u

STACKONCE=$1
PROG=$2
shift 2
LIVE=$(cd "$(dirname "$0")" && pwd)
LIVE_OUT=${LIVE_OUT:-/tmp/stackonce-live}
export STACKONCE PROG LIVE
# shellcheck source=tests/tracefs.sh
. "$LIVE/../tracefs.sh"

rm -rf "${LIVE_OUT:?}"/*
mkdir -p "$LIVE_OUT"
: >"$LIVE_OUT/results"
: >"$LIVE_OUT/skips"
failed=0

# report NAME RESULT REASON
report()
{
	case $2 in
	PASS)
		printf 'ok   %s%s\n' "$1" "$3"
		printf '%s\tOK\t1\t0\t0\n' "$1" >>"$LIVE_OUT/results"
		;;
	SKIP)
		printf 'skip %s: %s\n' "$1" "$3"
		printf '%s\tSKIP\t0\t0\t1\n' "$1" >>"$LIVE_OUT/results"
		printf '%s: %s\n' "$1" "$3" >>"$LIVE_OUT/skips"
		;;
	*)
		failed=1
		printf 'FAIL %s: %s\n' "$1" "$3"
		printf '%s\tFAIL\t0\t1\t0\n' "$1" >>"$LIVE_OUT/results"
		[ -f "$LIVE_OUT/$1.log" ] && tail -n 100 "$LIVE_OUT/$1.log" | sed 's/^/    /'
		;;
	esac
}

# Why this kernel lets nobody record, or nothing when it does.  Asks others than stackonce, so that
# a recorder that does not work is never mistaken for a kernel that refuses.
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

# A test may ask for more time than the usual with a line "# timeout: SECONDS" (times 3 in a VM).
limit_of()
{
	limit=$(sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "$1")
	limit=${limit:-120}
	[ -z "${LIVE_VM:-}" ] || limit=$((limit * 3))
	echo "$limit"
}

run_one()
{
	name=$1
	if [ ! -f "$LIVE/$name.sh" ]; then
		report "$name" FAIL "there is no such test"
		return
	fi
	if [ -n "$why" ]; then
		# Policy is a reason to skip; the test machines have none.
		if [ -n "${LIVE_VM:-}" ]; then
			report "$name" FAIL "$why"
		else
			report "$name" SKIP "$why"
		fi
		return
	fi
	LIVE_REASON=$LIVE_OUT/$name.reason
	export LIVE_REASON
	started=$(date +%s)
	timeout -k 10 "$(limit_of "$LIVE/$name.sh")" sh "$LIVE/$name.sh" \
		>"$LIVE_OUT/$name.log" 2>&1 </dev/null
	rc=$?
	took=$(($(date +%s) - started))
	case $rc in
	0) report "$name" PASS " ($took s) $(sed -n 's/^# //p' "$LIVE_OUT/$name.log" | tail -n 1)" ;;
	77)
		reason=$(cat "$LIVE_REASON" 2>/dev/null)
		if [ -n "$reason" ]; then
			report "$name" SKIP "$reason"
		else
			report "$name" FAIL "skipped without a reason"
		fi
		;;
	124 | 137 | 143) report "$name" FAIL "did not end within $(limit_of "$LIVE/$name.sh") s" ;;
	*) report "$name" FAIL "exit status $rc" ;;
	esac
}

all_tests()
{
	for t in "$LIVE"/*.sh; do
		name=$(basename "$t" .sh)
		case $name in
		lib | lib_* | run) continue ;;
		esac
		case " ${LIVE_WITHOUT:-} " in
		*" $name "*) ;;
		*) echo "$name" ;;
		esac
	done
}

tracefs_mount
trap tracefs_unmount EXIT
why=$(refused)
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # names without blanks
	set -- $(all_tests)
fi
for test; do
	run_one "$test"
done
exit "$failed"
