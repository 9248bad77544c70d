# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Sourced by the tests of commands when their arguments are known: an environment that changes no
# output, a directory of the test's own, which becomes the current one, and a count of failures.
LC_ALL=C.UTF-8 TZ=UTC TERM=xterm
export LC_ALL TZ TERM
unset NO_COLOR PAGER STACKONCE_PAGER DEBUGINFOD_URLS

dir=$(realpath "$(mktemp -d)") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
incomplete=

fail()
{
	echo "FAILED: $*"
	failed=$((failed + 1))
}

# left_out PART: it cannot run here, for which the test counts as skipped
left_out()
{
	echo "skipped: $*"
	incomplete=1
}

# finish: the end of the test
finish()
{
	echo "$failed failed"
	[ "$failed" -eq 0 ] || exit 1
	[ -z "$incomplete" ] || exit 77
	exit 0
}

# becomes COMMAND...: waits until the command succeeds; fails after a minute, for a hang
becomes()
{
	for _ in $(seq 1200); do
		"$@" 2>/dev/null && return
		sleep 0.05
	done
	return 1
}

# catches PID NUMBER: whether the process, which runs $so by now, has a handler for this signal
catches()
{
	[ "/proc/$1/exe" -ef "${so:?}" ] || return 1
	caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status")
	[ -n "$caught" ] && [ $((0x$caught >> ($2 - 1) & 1)) -eq 1 ]
}

# same WHAT WANT GOT: the files are equal
same()
{
	diff -u "$2" "$3" >"$dir/diff" || {
		fail "$1"
		head -n 20 "$dir/diff"
	}
}

# record KIND...: recordings KIND.stk of make_recording, which is $make
record()
{
	for kind; do
		"${make:?}" "$kind" "$kind.stk" || exit 1
	done
}
