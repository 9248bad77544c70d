#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# live_run.sh RUN.SH: the results that tests/live/run.sh reports for made-up tests, as if the kernel
# permitted live tests
set -eu

work=$(mktemp -d)
trap 'rm -rf "${work:?}"' EXIT
mkdir -p "$work/live" "$work/bin" "$work/tracefs/events"
cp "$1" "$work/live/run.sh"
cp "$(dirname "$1")/../process.sh" "$work/"
cat >"$work/tracefs.sh" <<END
tracefs=$work/tracefs
tracefs_mount() { :; }
tracefs_unmount() { :; }
END
printf '#!/bin/sh\necho 0\n' >"$work/bin/id"
printf '#!/bin/sh\nexit 0\n' >"$work/bin/bpftool"
chmod +x "$work/bin/id" "$work/bin/bpftool"

failed()
{
	printf 'FAILED: %s\n' "$*"
	cat "$work/out" "$work/results/results"
	exit 1
}

# run [NAME=VALUE...] [TEST...]: runs them with one worker.
run()
{
	settings=
	while [ $# -gt 0 ] && [ "${1#*=}" != "$1" ]; do
		settings="$settings $1"
		shift
	done
	# shellcheck disable=SC2086 # values without blanks
	env -u LIVE_VM -u LIVE_ALL -u LIVE_STRESS -u LIVE_WITHOUT PATH="$work/bin:$PATH" \
		LIVE_OUT="$work/results" LIVE_JOBS=1 $settings \
		sh "$work/live/run.sh" true "$work" "$@" >"$work/out" 2>&1
}

# want NAME=RESULT...: fails unless there are these results and no others.
want()
{
	printf '%s\n' "$@" | sort >"$work/wanted"
	awk -F '\t' '{ print $1 "=" $2 }' "$work/results/results" | sort |
		cmp -s - "$work/wanted" ||
		failed "the results are not $*"
}

echo 'exit 0' >"$work/live/good.sh"
echo 'exit 0' >"$work/live/lib_good.sh"
printf '# alone: a reason\nexit 0\n' >"$work/live/alone.sh"
printf '# on request: a reason\nexit 0\n' >"$work/live/asked.sh"
echo 'exit 1' >"$work/live/bad.sh"
# shellcheck disable=SC2016 # for the test
printf 'echo why >"$LIVE_REASON"\nexit 77\n' >"$work/live/skips.sh"
# shellcheck disable=SC2016 # for the test; its worker is the parent of timeout(1)
printf 'read -r _ _ _ worker _ <"/proc/$PPID/stat"\nkill -9 "$worker"\n' >"$work/live/kills.sh"
printf '#!/bin/sh\nexec sleep 60\n' >"$work/load"
chmod +x "$work/load"

if grep -qs '\[confidentiality\]' /sys/kernel/security/lockdown; then
	exit 77
fi
run good alone || failed "good tests fail"
want good=OK alone=OK
run good asked || failed "a test on request fails"
want good=OK asked=OK
run good good || failed "a good test that is named twice fails"
want good=OK
run good bad && failed "a bad test passes"
want good=OK bad=FAIL
run good skips || failed "a skipped test fails"
want good=OK skips=SKIP
run good missing && failed "a test that does not exist passes"
want good=OK missing=FAIL

run good kills && failed "a test without a result passes"
want good=OK kills=FAIL
run kills good alone && failed "a test that did not run passes"
want kills=FAIL good=FAIL alone=OK
run LIVE_STRESS=1 good kills && failed "a test without a result passes under stress"
want good=OK kills=FAIL

run && failed "all tests pass, and one of them kills its worker"
want alone=OK bad=FAIL good=OK kills=FAIL skips=FAIL
rm "$work/live/bad.sh" "$work/live/kills.sh"
run LIVE_STRESS=1 || failed "all tests fail under stress"
want alone=OK good=OK skips=SKIP
run LIVE_VM=1 LIVE_WITHOUT=good || failed "all tests but one fail in a virtual machine"
want alone=OK skips=SKIP
