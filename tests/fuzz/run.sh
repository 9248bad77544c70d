#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [TARGET [SECONDS]]: builds the fuzz targets with clang's libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, runs one or all of them (60 s each) on their corpora, and prints
# executions and line coverage.  Failing inputs are left in the build directory.
set -eu
cd "$(dirname "$0")/../.."
build=${FUZZ_BUILD:-build-fuzz}
only=${1:-}
seconds=${2:-60}

case $seconds in
*[!0-9]* | '')
	echo "fuzz: '$seconds' is not a number of seconds" >&2
	exit 2
	;;
esac

setup()
{
	[ ! -f "$build/build.ninja" ] || return 0
	flags='-fsanitize=fuzzer-no-link -fno-sanitize-recover=all'
	flags="$flags -fprofile-instr-generate -fcoverage-mapping"
	CC=clang-14 meson setup "$build" -Dfuzz=true -Db_sanitize=address,undefined \
		-Db_lundef=false -Dbuildtype=debugoptimized -Dc_args="$flags" \
		-Dc_link_args='-fprofile-instr-generate' >"$build.setup.log" 2>&1 || {
		cat "$build.setup.log" >&2
		exit 1
	}
	mv "$build.setup.log" "$build/meson-logs/setup.log"
}

# quiet CORPUS: the descriptors that libFuzzer closes: commands write to stdout and stderr.
quiet()
{
	case $1 in
	command | sql) echo 3 ;;
	*) echo 0 ;;
	esac
}

# fuzz NAME COVERS CORPUS: runs the target, then measures the coverage of corpus and new inputs.
fuzz()
{
	exe=$build/tests/fuzz/fuzz_$1
	found=$build/fuzz/$1
	log=$build/fuzz/$1.log
	corpus=tests/fuzz/corpus/$3
	words=tests/fuzz/$3.dict
	[ -f "$words" ] || words=
	mkdir -p "$found"
	echo "== fuzz $1 for $seconds s"
	rc=0
	LLVM_PROFILE_FILE=/dev/null "$exe" -max_total_time="$seconds" -print_final_stats=1 \
		-timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=1024 \
		-artifact_prefix="$build/fuzz/$1-" -close_fd_mask="$(quiet "$3")" \
		${words:+-dict="$words"} \
		"$found" "$corpus" >"$log" 2>&1 || rc=$?
	if [ "$rc" -ne 0 ]; then
		grep -aE 'ERROR|SUMMARY|runtime error|Test unit written' "$log" | head -n 10
		tail -n 20 "$log"
		echo "$1: FAILED"
		failed=1
		return 0
	fi
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	LLVM_PROFILE_FILE=$build/fuzz/$1.profraw "$exe" -runs=0 \
		-close_fd_mask="$(quiet "$3")" "$found" "$corpus" >>"$log" 2>&1
	llvm-profdata-14 merge -o "$build/fuzz/$1.profdata" "$build/fuzz/$1.profraw"
	llvm-cov-14 report "$exe" -instr-profile="$build/fuzz/$1.profdata" \
		--show-region-summary=false --show-branch-summary=false >"$build/fuzz/$1.coverage"
	echo "$1: $executions executions without a failure, line coverage of $2*: $(
		awk -v prefix="$2" 'index($1, prefix) == 1 { lines += $5; missed += $6 }
			END { printf "%.1f %% of %d", 100 * (lines - missed) / lines, lines }' \
			"$build/fuzz/$1.coverage") lines"
}

setup
list=
while read -r name _; do
	[ -z "$only" ] || [ "$only" = "$name" ] || continue
	list="$list tests/fuzz/fuzz_$name"
done <tests/fuzz/targets
if [ -z "$list" ]; then
	echo "fuzz: there is no target '$only' in tests/fuzz/targets" >&2
	exit 2
fi
# shellcheck disable=SC2086 # a list of words
ninja -C "$build" $list >"$build/build.log" 2>&1 || {
	cat "$build/build.log" >&2
	exit 1
}

failed=
while read -r name _ covers source; do
	case " $list " in
	*"/fuzz_$name "*) fuzz "$name" "$covers" "${source:-$name}" ;;
	esac
done <tests/fuzz/targets
[ -z "$failed" ]
