#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# repeat.sh REPEAT-FUNCTIONS: how `./run test --repeat N` counts, with made-up runs
set -u

command -v git >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
functions=$1
build=$work/build out=$work/out
mkdir -p "$build/live" "$work/tree"
cd "$work/tree" || exit 1

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf 'run: %s\n' "$*" >&2
	exit 1
}

failed()
{
	printf 'FAILED: %s\n' "$*"
	cat "$build/test-runs" 2>/dev/null
	exit 1
}

# shellcheck source=tests/repeat.sh
. "$functions"

commit()
{
	git add -A && git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m "$1"
}

# results NAME=RESULT...: writes the result files of a run.
results()
{
	printf 'unit\tOK\t2\t0\t0\n' >"$build/unit.results"
	for r; do
		case $r in
		*=ok) printf '%s\tOK\t1\t0\t0\t1.5\n' "${r%=*}" ;;
		*) printf '%s\tFAIL\t0\t1\t0\t1.5\n' "${r%=*}" ;;
		esac
	done >"$build/live/results"
}

good()
{
	results a=ok b=ok
}

flaky()
{
	results a=ok b=fail
	return 1
}

# Without a test that failed: as if results could not be read.
fails()
{
	good
	return 1
}

ends_early()
{
	exit 130
}

changes_tree()
{
	good
	commit other
}

leaves_nothing()
{
	:
}

lines()
{
	cat "$build/test-runs" 2>/dev/null | wc -l
}

git init -q .
commit first
(repeat 2 run 'all tests' good) >"$out" || failed "two good runs: $(cat "$out")"
[ "$(lines)" -eq 2 ] || failed "two runs made $(lines) lines"
grep -q '^2 runs of .* (run), 0 with failures' "$out" || failed "summary: $(cat "$out")"
(repeat 3 run 'all tests' flaky) >"$out" && failed "a failure is not reported"
grep -q '^3 runs of .*, 1 with failures' "$out" || failed "summary: $(cat "$out")"
grep -q '^ *1  b$' "$out" || failed "the summary does not name b: $(cat "$out")"

# interrupted: finished runs count, the current run does not
(repeat 5 run 'all tests' ends_early) >"$out"
[ "$(lines)" -eq 3 ] || failed "an interrupted run counts"
(repeat 5 run 'all tests' good) >"$out" && failed "an old failure is forgotten"
[ "$(lines)" -eq 5 ] || failed "it did not continue: $(cat "$out")"

# runs of other kinds, other tests or other commits are not mixed in
(repeat 1 stress-run 'all tests' good) >"$out" || failed "another kind: $(cat "$out")"
(repeat 1 run 'a b' good) >"$out" || failed "other tests: $(cat "$out")"
[ "$(lines)" -eq 7 ] || failed "kinds or tests are mixed"
commit second
(repeat 1 run 'all tests' good) >"$out" || failed "another commit: $(cat "$out")"
[ "$(lines)" -eq 8 ] || failed "commits are mixed"
(repeat 2 run 'all tests' changes_tree) >"$out" 2>&1 && failed "a change of the commit is accepted"
[ "$(lines)" -eq 8 ] || failed "a run over two commits counts"
(repeat 1 run 'all tests' leaves_nothing) >"$out" && failed "a run without results passes"
commit third
(repeat 1 run 'all tests' fails) >"$out" && failed "a run that returns 1 passes"
grep -q '^ *1  exit-status$' "$out" || failed "the summary: $(cat "$out")"
: >dirt
(repeat 9 run 'all tests' good) >"$out" 2>&1 && failed "a dirty tree is accepted"
grep -q 'git status' "$out" || failed "dirty: $(cat "$out")"
[ "$(lines)" -eq 10 ] || failed "runs of a dirty tree count"
