# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # the caller sets $build
# `./run test --repeat N`: whole test runs of one commit, and their results.  $build/test-runs has a
# line for each finished run: DATE, COMMIT, KIND, TESTS, PASSED, FAILED, SKIPPED, SECONDS, NAMES of
# failures, separated by tabs.

# repeat_commit: prints the commit under test; fails if the tree is no clean commit.
repeat_commit()
{
	git rev-parse --git-dir >/dev/null 2>&1 ||
		die "test --repeat counts runs of a commit, and this is no git tree"
	[ -z "$(git status --porcelain)" ] ||
		die "test --repeat counts runs of a commit, and the tree has changes (git status)"
	git rev-parse --short=12 HEAD
}

# repeat_runs FILE COMMIT KIND TESTS: prints the lines of these runs.
repeat_runs()
{
	[ ! -e "$1" ] || awk -F '\t' -v commit="$2" -v kind="$3" -v tests="$4" \
		'$2 == commit && $3 == kind && $4 == tests' "$1"
}

# repeat_note FILE COMMIT KIND TESTS SECONDS STATUS: appends a line for the run that has just ended.
# A STATUS other than 0 for which no test has failed is a failure, too.
repeat_note()
{
	cat "$build/unit.results" "$build/live/results" | awk -F '\t' -v OFS='\t' \
		-v commit="$2" -v kind="$3" -v tests="$4" -v seconds="$5" -v status="$6" \
		-v date="$(date -u +%FT%TZ)" '
		{ p += $3; f += $4; s += $5 }
		$4 > 0 { names = names (names == "" ? "" : " ") $1 }
		END {
			if (!p) {
				f++
				names = names (names == "" ? "" : " ") "nothing-passed"
			}
			if (status != 0 && !f) {
				f++
				names = "exit-status"
			}
			print date, commit, kind, tests, p + 0, f + 0, s + 0, seconds, names
		}' >>"$1"
}

# repeat_summary RUNS: summarizes lines as repeat_runs prints them; fails if a test failed.
repeat_summary()
{
	echo "$1" | awk -F '\t' '
		{ runs++; seconds += $8; bad += $6 > 0; n = split($9, names, " ")
			for (i = 1; i <= n; i++) failed[names[i]]++ }
		END {
			printf "%d runs of %s (%s), %d with failures, %.0f s each\n", runs, $2, $3,
				bad, seconds / runs
			for (name in failed) printf "%4d  %s\n", failed[name], name
			exit bad > 0
		}'
}

# repeat NUMBER KIND TESTS COMMAND...: runs COMMAND until there are NUMBER runs of this commit,
# including the runs of earlier calls.
repeat()
{
	number=$1 kind=$2 tests=$3
	shift 3
	runs=$build/test-runs
	commit=$(repeat_commit) || exit 1
	while :; do
		made=$(repeat_runs "$runs" "$commit" "$kind" "$tests" | wc -l)
		[ "$made" -lt "$number" ] || break
		say "== run $((made + 1)) of $number, $commit, $kind"
		started=$(date +%s)
		rm -f "$build/unit.results" "$build/live/results"
		status=0
		"$@" || status=$?
		now=$(repeat_commit) || exit 1
		[ "$now" = "$commit" ] ||
			die "the tree was $commit and is $now: the last run counts for neither"
		repeat_note "$runs" "$commit" "$kind" "$tests" $(($(date +%s) - started)) \
			"$status"
	done
	repeat_summary "$(repeat_runs "$runs" "$commit" "$kind" "$tests")"
}
