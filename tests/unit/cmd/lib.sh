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

fail()
{
	echo "FAILED: $*"
	failed=$((failed + 1))
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
