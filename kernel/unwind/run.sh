#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The patch of x86's ORC unwinder: applied, measured and compared with the unpatched unwinder.
#   run.sh BUILD [cost|time|same|churn]...
# Both unwinders are compiled into a module for Debian's kernel, in which a test machine then runs
# the unpatched one, or the patched one in its place; and into a program, which measures both on
# this machine's processor.  No kernel is built.
set -u

build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
out=$build/kernel/unwind

# shellcheck source=tests/process.sh
. tests/process.sh
# shellcheck source=tests/vm/kernel.sh
. tests/vm/kernel.sh
# shellcheck source=tests/vm/initramfs.sh
. tests/vm/initramfs.sh
# shellcheck source=tests/vm/machine.sh
. tests/vm/machine.sh
# shellcheck source=kernel/build.sh
. kernel/build.sh

patched='arch/x86/kernel/unwind_orc.c arch/x86/include/asm/unwind.h arch/x86/kernel/module.c'

# verdict NAME WHAT COMMAND...: runs it and prints the result.
verdict()
{
	name=$1
	what=$2
	shift 2
	if "$@"; then
		echo "ok   $name: $what"
		printf '%s\tOK\t1\t0\t0\n' "$name" >>"$out/results"
	else
		echo "FAIL $name: $what"
		printf '%s\tFAIL\t0\t1\t0\n' "$name" >>"$out/results"
	fi
}

# unpacked: prints a directory with the unpatched files of the source package.
unpacked()
{
	dir=$k_cache/unwind-$(source_version) || return 1
	if [ ! -d "$dir" ]; then
		rm -rf "$dir.new"
		mkdir -p "$dir.new"
		# shellcheck disable=SC2046,SC2086 # patterns for tar
		tar -xf "/usr/src/$k_package.tar.xz" -C "$dir.new" --strip-components=1 \
			--wildcards $(printf '*/%s ' $patched scripts/checkpatch.pl \
				scripts/spelling.txt scripts/const_structs.checkpatch) || return 1
		mv "$dir.new" "$dir"
	fi
	echo "$dir"
}

# headers VERSION: prints a directory to build modules for that kernel in: Debian's packages,
# downloaded and unpacked, but not installed.
headers()
{
	dir=$vm_cache/headers-$1
	if [ ! -d "$dir" ]; then
		rm -rf "$dir.new"
		mkdir -p "$dir.new"
		chmod 755 "$dir.new"
		tmp=$(mktemp -d /tmp/stackonce-headers.XXXXXX)
		chmod 755 "$tmp"
		[ "$(id -u)" -ne 0 ] || chown _apt "$tmp" 2>/dev/null || :
		(cd "$tmp" && apt-get -qq download "linux-headers-$1-cloud-amd64" \
			"linux-headers-$1-common" "linux-kbuild-$1" >&2) || return 1
		for deb in "$tmp"/*.deb; do
			dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir.new" || return 1
		done
		rm -rf "$tmp"
		sed -i "s|/usr/src/|$dir/usr/src/|" \
			"$dir.new/usr/src/linux-headers-$1-cloud-amd64/Makefile"
		mv "$dir.new" "$dir"
	fi
	echo "$dir/usr/src/linux-headers-$1-cloud-amd64"
}

# ---- the module ---------------------------------------------------------------------------------

# rename WHICH FILE: the unwinder's source as a part of the module.
rename()
{
	sed -f kernel/unwind/check/rename.sed "$2" | sed "s/WHICH_/$1_/g"
}

# prepare_module: both unwinders as before.c and after.c, the latter with its own unwind.h.
prepare_module()
{
	rm -rf "$out/module" "$out/tree"
	cp -r kernel/unwind/check "$out/module"
	cp -r "$source" "$out/tree"
	for p in kernel/unwind/*.patch; do
		apply_patch "$out/tree" "$p"
	done
	rename before "$source/arch/x86/kernel/unwind_orc.c" >"$out/module/before.c"
	rename after "$out/tree/arch/x86/kernel/unwind_orc.c" >"$out/module/after.c"
	rename after "$out/tree/arch/x86/include/asm/unwind.h" >"$out/module/after.h"
}

# addresses: what the module uses and the kernel does not export, as options of ld.  Machines boot
# with nokaslr, so that the addresses are those of any other boot.
addresses()
{
	nm "$1" | awk '$1 == "U" { print $2 }' | sort >"$out/used"
	cut -f 2 "$headers/Module.symvers" | sort | comm -23 "$out/used" - >"$out/missing"
	awk 'NR == FNR { missing[$1]; next }
		NF == 3 && $3 in missing && !seen[$3]++ { print "--defsym=" $3 "=0x" $1 }' \
		"$out/missing" "$symbols"
}

build_module()
{
	make -s -C "$headers" M="$out/module" KBUILD_MODPOST_WARN=1 modules \
		>"$out/module.log" 2>&1 || {
		grep -v 'undefined!' "$out/module.log" | head -n 20
		return 1
	}
	# shellcheck disable=SC2046 # options
	ld -r $(addresses "$out/module/unwind_check.ko") -o "$out/module/linked.ko" \
		"$out/module/unwind_check.ko"
}

# ---- the machine --------------------------------------------------------------------------------

# make_root: the initramfs: busybox, the modules, the programs that cause events, the guest's part.
make_root()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-unwind.XXXXXX")
	base_root "$root"
	cp kernel/unwind/init "$root/init"
	chmod 755 "$root/init"
	[ ! -e "$out/module/linked.ko" ] || cp "$out/module/linked.ko" "$root/unwind_check.ko"
	cp "$out"/module/churn_?.ko "$root/" 2>/dev/null
	for c in kernel/tests/load.c kernel/unwind/check/perf_load.c; do
		gcc -std=gnu17 -O2 -static -pthread -Wall -Wextra -Werror -D_GNU_SOURCE \
			-Isrc/include -Ikernel/tests -o "$root/bin/$(basename "$c" .c)" "$c" ||
			return 1
	done
	pack_root "$root" "$out/initramfs"
}

# kernel_errors DMESG: what the kernel reports, without what an unwinder itself says of a stack that
# an NMI has cut, as in return_to_handler(): both say so of the same stack.
kernel_errors()
{
	grep -av 'WARNING: stack going in the wrong direction' "$1" |
		grep -aE -A 20 'Oops|BUG: |WARNING: ' | head -n 30 | grep -a .
}

# boot NAME CPUS QEMU-WORD...: runs the part NAME of the guest; its files are in $out/NAME.
boot()
{
	dir=$out/$1
	name=$1
	smp=$2
	shift 2
	rm -rf "$dir"
	mkdir -p "$dir"
	append="console=ttyS0 quiet panic=-1 no_timer_check nokaslr norandmaps"
	append="$append rcupdate.rcu_cpu_stall_timeout=300 stackonce.part=$name"
	qemu-system-x86_64 -cpu max -smp "$smp" -m 1024 -display none -no-reboot -net none \
		-kernel "$image" -initrd "$out/initramfs" -append "$append" "$@" \
		-monitor none -serial "file:$dir/console" -serial "file:$dir/archive" \
		</dev/null >"$dir/qemu.log" 2>&1 &
	machine=$!
	watch_machine "$machine" "$dir" $((1800 * ${SLOW:-1}))
	wait "$machine"
	machine=
	unpack_archive "$dir"
	if kernel_errors "$dir/dmesg" || [ ! -s "$dir/lines" ]; then
		tail -n 10 "$dir/console"
		return 1
	fi
}

# kernel_symbols: the addresses of the kernel's symbols, which a machine prints once.
kernel_symbols()
{
	[ -s "$symbols" ] || {
		make_root && boot symbols 1 -accel tcg && cp "$out/symbols/kallsyms" "$symbols"
	}
}

# ---- the tests ----------------------------------------------------------------------------------

# differ FILE WHAT: the number of stacks that differed in a part of the guest.
differ()
{
	awk -v what="$2" '$1 == "differ" && $2 == what { print $3 }' "$1"
}

# Instructions per stack of events, with the unpatched and the patched unwinder: at least LEAST
# times as many.
least=1.5
cost_gains()
{
	awk -v least="$least" '
		$1 == "cost" { cost[$3, $2] = $4; names[$3] }
		END {
			for (n in names) {
				before = cost[n, "before"]
				after = cost[n, "after"]
				printf "     %-18s %5d instructions, %5d patched: %.2f times\n",
					n, before, after, before / after
				bad += before < least * after
				all++
			}
			exit bad || all < 5
		}' "$out/cost/lines"
}

test_cost()
{
	boot cost 1 -accel tcg -icount shift=0,sleep=off &&
		verdict cost "a stack takes $least times fewer instructions" cost_gains
}

# Addresses that the unwinders only compare with.
native_symbols='_stext _etext _sinittext _einittext arch_rethook_trampoline ftrace_caller
	ftrace_regs_caller return_to_handler ret_from_fork_asm'

address()
{
	awk -v name="$1" '$3 == name { print "0x" $1; exit }' "$symbols"
}

# native_program RETURNS: links both unwinders with that kernel's tables, as $out/time/native.
native_program()
{
	set -- -DSAFE_RETURNS="$([ "$1" = safe ] && echo 1 || echo 0)" \
		-DKERNEL_ORC_IP="$(address __start_orc_unwind_ip)"
	for s in $native_symbols; do
		set -- "$@" "-Wl,--defsym=$s=$(address "$s")"
	done
	(
		cd "$out/time" &&
			objcopy --rename-section .return_sites=return_sites \
				"$out/module/unwind_native.o" native.o &&
			gcc -std=gnu17 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -fno-pie -no-pie \
				-Wl,-z,noexecstack -Wl,--no-warn-rwx-segments "$@" -o native \
				"$out/module/native_main.c" native.o
	)
}

# time_gains RETURNS
time_gains()
{
	"$out/time/native" "$out/time/stacks" >"$out/time/line" || return 1
	awk -v returns="$1" -v least="$least" '{
		printf "     %d stacks, %d frames, %s returns: %.1f ns a frame, %.1f patched: " \
			"%.2f times\n", $2, $3, returns, $4, $5, $4 / $5
		exit $4 < least * $5
	}' "$out/time/line"
}

test_time()
{
	boot time 1 -accel tcg || return 1
	for returns in plain safe; do
		native_program "$returns" || return 1
		verdict time "a frame takes $least times less time with $returns returns" \
			time_gains "$returns"
	done
}

same_stacks()
{
	sed -n 's/^compared /     /p' "$out/same/lines"
	[ "$(differ "$out/same/lines" same)" = 0 ] &&
		awk '$1 == "compared" { n++; bad += $3 < 100 } END { exit bad || n != 4 }' \
			"$out/same/lines"
}

test_same()
{
	boot same 2 -accel tcg,thread=single || return 1
	verdict same "stacks, their frames, those outside the image: none differs" same_stacks
	grep -aE 'unwind_check: (stacks|[! ] )' "$out/same/dmesg" | head -n 20
}

# Without the patch's part in the freeing of modules, stacks must differ, or the test is worthless.
churn_detects()
{
	sed -n 's/^differ /     /p' "$out/churn/lines"
	[ "$(differ "$out/churn/lines" flushed)" = 0 ] &&
		[ "$(differ "$out/churn/lines" unflushed)" -gt 0 ]
}

test_churn()
{
	boot churn 1 -accel tcg &&
		verdict churn "modules at one address: stacks differ if not flushed" churn_detects
}

# checkpatch says nothing about the patch.
style()
{
	(cd "$source" && perl scripts/checkpatch.pl --strict --no-summary --terse --no-tree -) \
		<"$1" 2>&1 | (! grep .)
}

# An interrupted run must not leave a machine behind.
end_machine()
{
	[ -z "${machine:-}" ] || end_child KILL "$machine"
	exit 130
}
trap end_machine INT TERM

for part; do
	case $part in
	cost | time | same | churn) ;;
	*) k_die "unwind knows cost, time, same and churn, not '$part'" ;;
	esac
done
mkdir -p "$out" "$k_cache"
exec 8>"$out/lock"
flock -n 8 || k_die "another test is running in $out (BUILD=DIR names another directory)"
: >"$out/results"
source=$(unpacked) || k_die "cannot unpack $k_package"
image=$(kernel_image 6.12) || k_die "neither apt nor the cache has Debian's kernel 6.12"
version=${image##*linux-image-}
version=${version%-cloud-amd64}
headers=$(headers "$version") || k_die "cannot download the headers of Linux $version"
symbols=$image.symbols
kernel_symbols || k_die "the kernel's symbols are unknown: see $out/symbols"
for p in kernel/unwind/*.patch; do
	verdict "$(basename "$p" .patch)" "checkpatch --strict" style "$here/${p##*/}"
done
prepare_module
build_module || k_die "the module does not build: see $out/module.log"
make_root || k_die "no initramfs"
[ $# -gt 0 ] || set -- cost time same churn
for part; do
	"test_$part" || verdict "$part" "the machine ended before the test did" false
done
summary "$out/results"
