#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The patch series for Linux: its source, its kernels, its tests. `./run kernel` lists the commands;
# it passes the build directory of stackonce as the first argument.
set -u

build=$1
shift
cd "$(dirname "$0")/.." || exit 1
out=$build/kernel

# shellcheck source=tests/process.sh
. tests/process.sh
# shellcheck source=tests/vm/initramfs.sh
. tests/vm/initramfs.sh
# shellcheck source=tests/vm/machine.sh
. tests/vm/machine.sh
# shellcheck source=kernel/build.sh
. kernel/build.sh
# shellcheck source=kernel/check.sh
. kernel/check.sh
# shellcheck source=kernel/machine.sh
. kernel/machine.sh
# shellcheck source=kernel/faults.sh
. kernel/faults.sh

usage()
{
	cat <<-EOT
	usage: ./run kernel COMMAND

	  source                 unpack and patch Debian's linux-source-6.12, print the path
	  build [VARIANT]        build a kernel (cached by content), print its path
	  check [PART...]        checkpatch (style); build every patch with and without its option,
	                         sparse (patches); the series with other options, for other machines
	  boot [VARIANT] [WORD...]  run a shell in it; WORDs go to the kernel command line
	  test [--all] [--variant V] [TEST...]
	                         run KUnit, selftests and kernel/tests
	  recorded [PART...]     fails unless kernel/RESULTS.md is about this series and these tests
	  faults [NAME...]       put each fault of kernel/faults.sh into the series: tests must fail
	  list                   list the tests and their variants
	  unwind [cost] [time] [same] [churn]
	                         measure and test the patch in kernel/unwind; builds no kernel

	VARIANT is one of: $k_variants.  TEST is kunit, selftests or a name from kernel/tests.
	PART is one of: $(check_parts | xargs).
	Variants and parts of check that have passed are recorded in kernel/RESULTS.md.
	--all: what is not recorded of every variant and of check; continues where an interrupted
	run ended.
	KERNEL_TREE=DIR builds and boots that source tree instead. JOBS=N: N jobs. SLOW=N: timeouts
	are N times as long.
	EOT
}

# ---- kernel/RESULTS.md --------------------------------------------------------------------------

# all_parts: what is recorded: a variant stands for its tests, check-PART for a part of `check`.
all_parts()
{
	for v in $k_variants; do
		echo "$v"
	done
	check_parts | sed 's/^/check-/'
}

# part_key PART: a hash of what decides its result, without stackonce itself and the compiler:
# results are recorded for all machines.
part_key()
{
	{
		if [ "$1" = check-style ]; then
			cat kernel/*.patch
		else
			patched_code
		fi
		case $1 in
		check-*) find kernel/config kernel/config.check kernel/check.sh ;;
		*)
			find kernel/config* kernel/init kernel/build.sh kernel/machine.sh \
				kernel/tests tests/vm/initramfs.sh tests/vm/machine.sh -type f \
				! -name config.check
			;;
		esac | sort | xargs sha256sum
	} | k_hash
}

# is_recorded PART: it has passed with these files.
is_recorded()
{
	grep -q "^| $1 |.* | $(part_key "$1") |\$" kernel/RESULTS.md 2>/dev/null
}

# record PART FILE: writes that a part has passed, with the counts of these results, and why
# something of it was skipped.
record()
{
	part=$1
	commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
	git diff --quiet HEAD -- . ':!kernel/RESULTS.md' 2>/dev/null ||
		commit="$commit, with changes"
	counts=$(awk -F '\t' '{ p += $3; s += $5 } END { print p + 0, "|", s + 0 }' "$2")
	row="| $part | $counts | $(date -u +%F) | $commit | $(part_key "$part") |"
	cp kernel/RESULTS.md "$out/RESULTS.old" 2>/dev/null || : >"$out/RESULTS.old"
	{
		cat <<-EOT
		# The last run of each part of the tests of the series

		\`./run kernel test\` and \`./run kernel check\` write a part when all of it has
		passed. \`./run kernel recorded\` fails where a part's inputs have changed since.

		| part | passed | skipped | date | commit | inputs |
		|---|---|---|---|---|---|
		EOT
		for p in $(all_parts); do
			if [ "$p" = "$part" ]; then
				echo "$row"
			else
				grep "^| $p |" "$out/RESULTS.old" || :
			fi
		done
		echo
		{
			grep '^\* skipped in ' "$out/RESULTS.old" |
				grep -vE "^\* skipped in $part(-[0-9]+)?:"
			cat "$out/$part/skips" "$out/$part"-[0-9]*/skips 2>/dev/null |
				sed 's/^/* /'
		} | sort
	} >kernel/RESULTS.md
}

# recorded [PART...]
cmd_recorded()
{
	missing=
	for part in ${*:-$(all_parts)}; do
		all_parts | grep -qx -e "$part" || k_die "there is no part '$part'"
		is_recorded "$part" || missing="$missing $part"
	done
	[ -z "$missing" ] || k_die "the series or its tests have changed since these parts were" \
		"run:$missing ('./run kernel test --all' runs them and records the results)"
	echo "kernel: the results in kernel/RESULTS.md are those of this series and its tests"
}

# ---- the tests ----------------------------------------------------------------------------------

# drop_boots [KEEP]: removes what earlier boots left, but those that passed with the inputs KEEP
drop_boots()
{
	for b in "$out"/*/; do
		[ "$b" != "$out/unwind/" ] || continue
		[ "$(cat "$b/key" 2>/dev/null)" = "${1:-none}" ] || rm -rf "$b"
	done
}

# begin_tests [KEEP]: nobody else tests in $out from here on; see drop_boots.
begin_tests()
{
	mkdir -p "$out" "$k_cache"
	exec 8>"$out/lock"
	flock -n 8 || k_die "another test is running in $out (BUILD=DIR names another directory)"
	drop_boots "${1:-}"
	rm -f "$out/initramfs-live.cpio"
	make_k_initramfs "$build" "$out/initramfs"
}

# run_tests VARIANTS TESTS
run_tests()
{
	plan "$1" "$2" >"$out/plan" || return 1
	! cut -d '|' -f 5 "$out/plan" | grep -q live || [ -f "$out/initramfs-live.cpio" ] ||
		make_live "$build" "$out/initramfs-live.cpio" || return 1
	run_plan "$out/plan"
}

# test_variant VARIANT: runs all of its tests, and records that they have passed.
test_variant()
{
	run_tests "$1" "kunit selftests $(test_names)" || return 1
	cat "$out/$1/results" "$out/$1"-[0-9]*/results >"$out/part.results" 2>/dev/null
	[ -n "${KERNEL_TREE:-}" ] || cut -f 2 "$out/part.results" | grep -qx FAIL ||
		record "$1" "$out/part.results"
}

# cmd_check [PART...]: records each part that has passed; for $inputs, what is recorded is not run.
cmd_check()
{
	# shellcheck disable=SC2046 # a list of words
	[ $# -gt 0 ] || set -- $(check_parts)
	for part; do
		if [ -n "${inputs:-}" ] && is_recorded "check-$part"; then
			echo "== check $part: recorded"
			continue
		fi
		(k_check "$part") || return 1
		[ -n "${KERNEL_TREE:-}" ] || record "check-$part" "$out/check.results"
	done
}

cmd_test()
{
	variants=default
	only=
	named=
	all=
	while [ $# -gt 0 ]; do
		case $1 in
		--all)
			all=1
			variants=$k_variants
			;;
		--variant)
			is_variant "${2:-none}" || k_die "--variant is one of: $k_variants"
			only=$2
			variants=$2
			shift
			;;
		-*) k_die "test does not know '$1'" ;;
		*)
			[ -f "kernel/tests/$1.sh" ] || [ "$1" = kunit ] || [ "$1" = selftests ] ||
				k_die "there is no test '$1'"
			named="$named $1"
			;;
		esac
		shift
	done
	inputs=
	[ -z "$all" ] || [ -n "$named${KERNEL_TREE:-}" ] || inputs=$(part_key default)
	begin_tests "$inputs" || return 1
	if [ -n "$named" ]; then
		run_tests "$variants" "$named" || return 1
	else
		for v in $variants; do
			if [ -n "$inputs" ] && is_recorded "$v"; then
				echo "== $v: recorded"
			else
				test_variant "$v" || return 1
			fi
		done
	fi
	cat "$out"/*/skips 2>/dev/null
	if [ -n "$(ls "$out"/*/results 2>/dev/null)" ]; then
		summary "$out"/*/results || return 1
	fi
	[ -z "$inputs" ] || cmd_check
}

cmd_boot()
{
	variant=default
	if [ $# -gt 0 ] && is_variant "$1"; then
		variant=$1
		shift
	fi
	image=$(k_build "$variant") || return 1
	mkdir -p "$out/shell"
	make_k_initramfs "$build" "$out/initramfs" || return 1
	make_live "$build" "$out/initramfs-live.cpio" || return 1
	k_qemu "$out/shell" "$variant|single|2|1024|live|||" "$image" "stackonce.mode=shell $*" \
		-serial mon:stdio
}

cmd_list()
{
	for t in kunit selftests $(test_names); do
		printf '%-24s %s\n' "$t" "$(variants_of "$t")"
	done
}

# An interrupted run must not leave a machine behind.
end_machine()
{
	[ -z "${machine:-}" ] || end_child KILL "$machine"
	exit 130
}
trap end_machine INT TERM

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
source) k_source ;;
build) k_build "${1:-default}" ;;
check) cmd_check "$@" ;;
boot) cmd_boot "$@" ;;
test) cmd_test "$@" ;;
recorded) cmd_recorded "$@" ;;
faults) cmd_faults "$@" ;;
list) cmd_list ;;
unwind) exec sh kernel/unwind/run.sh "$build" "$@" ;;
help | -h | --help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
