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

usage()
{
	cat <<-EOT
	usage: ./run kernel COMMAND

	  source                 unpack and patch Debian's linux-source-6.12, print the path
	  build [VARIANT]        build a kernel (cached by content), print its path
	  check [PART...]        build every patch with and without its option, checkpatch, sparse
	                         (patches); then the series with other options, for other machines
	  boot [VARIANT] [WORD...]  run a shell in it; WORDs go to the kernel command line
	  test [--all] [--variant V] [--changed] [TEST...]
	                         run KUnit, selftests and kernel/tests
	  recorded               fails unless kernel/RESULTS.md is about this series and these tests
	  list                   list the tests and their variants
	  unwind [cost] [same] [churn]
	                         measure and test the patch in kernel/unwind; builds no kernel

	VARIANT is one of: $k_variants.  TEST is kunit, selftests or a name from kernel/tests.
	PART is patches or one of: $(row_names | xargs).
	--all: in every variant, not only default, and check; continues where an interrupted run
	ended, and records the result in kernel/RESULTS.md.  --changed: only if something changed
	since the last pass.
	KERNEL_TREE=DIR builds and boots that source tree instead. JOBS=N: N jobs. SLOW=N: timeouts
	are N times as long.
	EOT
}

# The sums of the files that decide what the tests find, without stackonce itself.
input_sums()
{
	find kernel tests/vm -type f ! -name '*.md' ! -name cover-letter.txt \
		! -path 'kernel/unwind/*' | sort | xargs sha256sum
}

# inputs_key VARIANT...: the inputs of the tests of these variants.
inputs_key()
{
	{
		for v; do
			build_key "$v"
		done
		input_sums
	} | k_hash
}

# The same of all variants.  The compiler is not part of it: results are recorded for all machines.
series_key()
{
	input_sums | k_hash
}

# drop_boots KEEP: removes what earlier boots left, but for those that passed with the inputs KEEP.
drop_boots()
{
	for b in "$out"/*/; do
		[ "$b" != "$out/unwind/" ] || continue
		[ "$(cat "$b/key" 2>/dev/null)" = "${1:-none}" ] || rm -rf "$b"
	done
}

# record: writes kernel/RESULTS.md, all boots of `test --all` having passed.
record()
{
	commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
	git diff --quiet HEAD -- 2>/dev/null || commit="$commit, with changes"
	{
		cat <<-EOT
		# The last run of all tests of the series

		Written by \`./run kernel test --all\`. \`./run kernel recorded\` fails if the
		series or its tests have changed since.

		| | |
		|---|---|
		| inputs | $(series_key) |
		| commit | $commit |
		| kernel | $k_package $(source_version) |
		| compiler | $(gcc --version | head -n 1) |
		| date | $(date -u +%F) |

		| machine | passed | failed | skipped |
		|---|---|---|---|
		EOT
		for b in "$out"/*/results; do
			awk -F '\t' -v name="$(basename "$(dirname "$b")")" '
				{ p += $3; f += $4; s += $5 }
				END { printf "| %s | %d | %d | %d |\n", name, p, f, s }' "$b"
		done
		echo
		echo "Each patch was checked, and the series for: $(row_names | xargs)."
		echo
		cat "$out"/*/skips | sed 's/^/* /'
	} >kernel/RESULTS.md
	echo "kernel: the result is in kernel/RESULTS.md"
}

# check_all: `check`, without the parts that have passed with these patches.
check_all()
{
	checked=$(cat kernel/*.patch kernel/config kernel/config.check kernel/check.sh | k_hash)
	for part in patches $(row_names); do
		! grep -qx "$part $checked" "$out/checked" 2>/dev/null || continue
		(k_check "$part") || return 1
		echo "$part $checked" >>"$out/checked"
	done
}

cmd_recorded()
{
	known=$(sed -n 's/^| inputs | \(.*\) |$/\1/p' kernel/RESULTS.md 2>/dev/null)
	[ "$known" = "$(series_key)" ] ||
		k_die "the series or its tests have changed since all tests were run:" \
			"'./run kernel test --all' runs them and records the result in kernel/RESULTS.md"
	echo "kernel: all tests were run with this series, see kernel/RESULTS.md"
}

cmd_test()
{
	variants=default
	only=
	named=
	changed=
	inputs=
	while [ $# -gt 0 ]; do
		case $1 in
		--all)
			variants=$k_variants
			# shellcheck disable=SC2086 # a list of words
			inputs=$(inputs_key $k_variants)
			;;
		--changed) changed=1 ;;
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
	stamp=$k_cache/passed
	if [ -n "$changed" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(inputs_key default)" ]; then
		echo "kernel: nothing changed since its tests passed here"
		return 0
	fi
	mkdir -p "$out" "$k_cache"
	exec 8>"$out/lock"
	flock -n 8 || k_die "another test is running in $out (BUILD=DIR names another directory)"
	[ -z "$named$only${KERNEL_TREE:-}" ] || inputs=
	drop_boots "$inputs"
	plan "$variants" "${named:-kunit selftests $(test_names)}" >"$out/plan" || return 1
	make_k_initramfs "$build" "$out/initramfs" || return 1
	! cut -d '|' -f 5 "$out/plan" | grep -q live ||
		make_live "$build" "$out/initramfs-live.cpio" || return 1
	run_plan "$out/plan"
	for s in "$out"/*/skips; do
		cat "$s"
	done
	summary "$out"/*/results || return 1
	[ -z "$inputs" ] || { check_all && record; } || return 1
	[ -n "$named$only${KERNEL_TREE:-}" ] || inputs_key default >"$stamp"
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
check) k_check "$@" ;;
boot) cmd_boot "$@" ;;
test) cmd_test "$@" ;;
recorded) cmd_recorded ;;
list) cmd_list ;;
unwind) exec sh kernel/unwind/run.sh "$build" "$@" ;;
help | -h | --help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
