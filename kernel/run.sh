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
	  check                  build every patch with and without its option, checkpatch, sparse
	  boot [VARIANT] [WORD...]  run a shell in it; WORDs go to the kernel command line
	  test [--all] [--variant V] [--changed] [TEST...]
	                         run KUnit, selftests and kernel/tests
	  list                   list the tests and their variants

	VARIANT is one of: $k_variants.  TEST is kunit, selftests or a name from kernel/tests.
	--all: in every variant, not only default.  --changed: only if something changed since the
	last pass.
	KERNEL_TREE=DIR builds and boots that source tree instead. JOBS=N: N jobs. SLOW=N: timeouts
	are N times as long.
	EOT
}

# The inputs of the tests of the default variant, without stackonce itself.
stamp_key()
{
	{
		build_key default
		find kernel tests/vm -type f | sort | xargs sha256sum
	} | k_hash
}

cmd_test()
{
	variants=default
	only=
	named=
	changed=
	while [ $# -gt 0 ]; do
		case $1 in
		--all) variants=$k_variants ;;
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
	if [ -n "$changed" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$(stamp_key)" ]; then
		echo "kernel: nothing changed since its tests passed here"
		return 0
	fi
	mkdir -p "$out" "$k_cache"
	exec 8>"$out/lock"
	flock -n 8 || k_die "another test is running in $out (BUILD=DIR names another directory)"
	rm -rf "$out"/default* "$out"/debug* "$out"/kcsan* "$out"/bpf* "$out"/fp*
	plan "$variants" "${named:-kunit selftests $(test_names)}" >"$out/plan" || return 1
	make_k_initramfs "$build" "$out/initramfs" || return 1
	! cut -d '|' -f 5 "$out/plan" | grep -q live ||
		make_live "$build" "$out/initramfs-live.cpio" || return 1
	run_plan "$out/plan"
	for s in "$out"/*/skips; do
		cat "$s"
	done
	summary "$out"/*/results || return 1
	[ -n "$named$only${KERNEL_TREE:-}" ] || stamp_key >"$stamp"
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
list) cmd_list ;;
help | -h | --help) usage ;;
*)
	usage >&2
	exit 2
	;;
esac
