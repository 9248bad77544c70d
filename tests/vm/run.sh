#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Boots Debian's kernels under qemu (emulated, no KVM) and runs the live tests inside:
#   run.sh BUILD [shell|demo|demo-rmap] [--all] [6.1|6.12] [TEST...]
# Without a kernel, both run, in parallel if there are two CPUs, and then the tests that compare two
# boots.  Without tests, all run but those in left_out; --all adds these.
# VM_CPUS is the number of CPUs of a machine, 2 by default and at most 255: all are emulated by one
# thread, so a machine with many is slow.  VM_APPEND has more words for the kernel's command line:
#   VM_APPEND='nohz_full=1 isolcpus=1' ./run vm 6.12 nohz_full
set -u

build=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.." || exit 1
out=$build/vm
# limit_of [TEST...]: seconds without a result after which a machine is killed: more than any of
# these tests may take in it, or any test that runs without being named.
limit_of()
{
	if [ $# -eq 0 ]; then
		# shellcheck disable=SC2046 # names without blanks
		set -- $(grep -L '^# on request: ' tests/live/*.sh)
	else
		# shellcheck disable=SC2046
		set -- $(printf 'tests/live/%s.sh ' "$@")
	fi
	longest=$({
		echo 1200
		sed -n 's/^# timeout: \([0-9]*\)$/\1/p' "$@" 2>/dev/null
	} | sort -n | tail -n 1)
	echo $((longest * (1 + cpus / 8) + 600))
}

# shellcheck source=tests/process.sh
. "$here/../process.sh"
# shellcheck source=tests/vm/kernel.sh
. "$here/kernel.sh"
# shellcheck source=tests/vm/initramfs.sh
. "$here/initramfs.sh"
# shellcheck source=tests/vm/machine.sh
. "$here/machine.sh"
cpus=$(machine_cpus "${VM_CPUS:-2}") || exit 2
limit=$(limit_of)

# qemu SERIES APPEND SERIAL...: becomes one machine.  It has a second memory node without CPUs, as a
# target for page migration.  All CPUs run in one thread: with a thread per CPU, qemu lets a CPU
# execute a half-patched instruction while tracepoints are switched, and the kernel panics.
# no_timer_check: with too little CPU time a machine fails the timer check at boot and panics.
qemu()
{
	image=$(kernel_image "$1") || {
		echo "vm: no kernel $1: neither apt nor the cache has one" >&2
		return 1
	}
	cat "$out/initramfs" "$image.cpio" >"$out/initramfs-$1"
	append="console=ttyS0 quiet panic=-1 numa_balancing=disable no_timer_check"
	append="$append ${VM_APPEND:-} $2"
	initramfs=$out/initramfs-$1
	shift 2
	mb=$(machine_mb "$cpus")
	exec qemu-system-x86_64 -accel "${VM_ACCEL:-tcg,thread=single}" -cpu max \
		-smp "$cpus" -m $((mb + 256)) \
		-object memory-backend-ram,id=m0,size="${mb}M" \
		-numa node,nodeid=0,memdev=m0,cpus=0-$((cpus - 1)) \
		-object memory-backend-ram,id=m1,size=256M -numa node,nodeid=1,memdev=m1 \
		-display none -no-reboot -net none -kernel "$image" -initrd "$initramfs" \
		-append "$append" "$@"
}

# boot NAME SERIES APPEND: runs the live tests in a machine; their files are in $out/NAME.
boot()
{
	name=$1
	dir=$out/$name
	rm -rf "$dir"
	mkdir -p "$dir"
	started=$(date +%s)
	echo "== live tests in a machine with Linux $2 ($name)"
	qemu "$2" "$3" -monitor none -serial "file:$dir/console" \
		-serial "file:$dir/archive" -serial null </dev/null >"$dir/qemu.log" 2>&1 &
	machine=$!
	echo "$machine" >"$dir/pid"
	watch_machine "$machine" "$dir" "$limit"
	wait "$machine" || :
	rm "$dir/pid"
	unpack_archive "$dir" || :
	tr -d '\r' <"$dir/console" | grep -aE '^(vm: |ok |skip |spoilt |FAIL |    )' |
		sed "s/^/$name: /"
	echo "$name: $(($(date +%s) - started)) s"
	if [ ! -s "$dir/results" ]; then
		failed_to_end "$name" "$dir"
		return 1
	fi
	! grep -q 'FAIL' "$dir/results"
}

# An interrupted run must not leave machines behind.
end_machines()
{
	cat "$out"/*/pid 2>/dev/null | xargs -r kill -KILL
	exit 130
}

# A machine takes one CPU; the memory must suffice for two.
room_for_two()
{
	[ "$(nproc)" -ge 2 ] && awk '/^MemAvailable:/ { exit $2 < 4000000 }' /proc/meminfo
}

# boot_all APPEND SERIES...: boots a machine per series and prints the results in this order.
boot_all()
{
	words=$1
	shift
	rc=0
	if [ $# -lt 2 ] || ! room_for_two; then
		for s; do
			boot "$s" "$s" "$words" || rc=1
		done
		return "$rc"
	fi
	echo "== live tests in machines with Linux $*, in parallel; their output follows at the end"
	for s; do
		kernel_image "$s" >/dev/null || : # one apt at a time
	done
	for s; do
		boot "$s" "$s" "$words" >"$out/$s.said" 2>&1 &
		echo "$s $!" >>"$out/booted"
	done
	while read -r s pid; do
		wait "$pid" || rc=1
		cat "$out/$s.said"
	done <"$out/booted"
	return "$rc"
}

# The tests that need no machine, except those that the native kernel skipped.
left_out()
{
	awk -F '\t' 'FILENAME != "-" { if ($2 == "SKIP") skipped[$1]; next }
		!/^#/ && !($1 in skipped) { print $1 }' \
		"$([ -s "$build/live/results" ] && echo "$build/live/results" ||
			echo /dev/null)" - <"$here/left_out"
}

# Two boots have different kernel base addresses; the same workload must have the same symbols.
compare_boots()
{
	first=$out/6.12
	for try in 1 2 3; do
		boot "6.12-again" 6.12 stackonce.tests=kaslr || return 1
		second=$out/6.12-again
		[ "$(cat "$first/text-base")" = "$(cat "$second/text-base")" ] || break
		[ "$try" -lt 3 ] || {
			echo "FAIL kaslr_boots: three boots had the same base"
			return 1
		}
	done
	for d in "$first" "$second"; do
		sh "$here/symbols.sh" "$build/src/cmd/stackonce" "$d/keep/kaslr.stk" \
			>"$d/symbols" || return 1
		[ -s "$d/symbols" ] || {
			echo "FAIL kaslr_boots: no symbols in $d/keep/kaslr.stk"
			return 1
		}
	done
	if cmp -s "$first/symbols" "$second/symbols"; then
		echo "ok   kaslr_boots: text at" \
			"$(cat "$first/text-base") and $(cat "$second/text-base"), $(
			wc -l <"$first/symbols") stacks with equal symbols"
	else
		echo "FAIL kaslr_boots: symbols differ between two boots"
		diff "$first/symbols" "$second/symbols" | head -n 20
		return 1
	fi
}

# A test that the native kernel or a machine skipped must pass somewhere.
check_skips()
{
	rc=0
	[ -s "$build/live/results" ] || {
		echo "what the machines skipped may be skipped by this kernel, too:" \
			"./run test has not run"
		return 0
	}
	cat "$build/live/results" "$out"/6.*/results 2>/dev/null |
		awk -F '\t' '$2 == "SKIP" { skip[$1] = 1 } $2 == "OK" { ok[$1] = 1 }
			END { for (t in skip) if (!(t in ok)) print t }' >"$out/never"
	while read -r name; do
		echo "FAIL $name: skipped everywhere, passed nowhere"
		rc=1
	done <"$out/never"
	return "$rc"
}

trap end_machines INT TERM
mkdir -p "$out"
make_initramfs "$build" "$out/initramfs" || exit 1

if [ "${1:-}" = shell ]; then
	qemu "${2:-6.12}" "stackonce.mode=shell" -serial mon:stdio
	exit
fi

if [ "${1:-}" = demo ]; then
	boot demo 6.12 stackonce.mode=demo && cp "$out/demo/keep/demo.stk" tests/golden/demo.stk
	exit
fi

if [ "${1:-}" = demo-rmap ]; then
	boot demo-rmap 6.12 stackonce.tests=rmap &&
		cp "$out/demo-rmap/keep/rmap.stk" tests/golden/rmap.stk
	exit
fi

all=
if [ "${1:-}" = --all ]; then
	all=1
	shift
fi
case ${1:-} in
6.1 | 6.12)
	series=$1
	shift
	;;
*) series='6.1 6.12' ;;
esac
limit=$(limit_of "$@")
tests=$(echo "$*" | tr ' ' ',')
without=
if [ -z "$tests$all" ]; then
	without=$(left_out | paste -sd,)
	echo "left out, tests/vm/left_out says why, ./run vm --all runs them:" \
		"$(echo "$without" | sed 's/,/, /g')"
fi
rc=0
rm -rf "$out"/6.* "$out/booted"
amount="stackonce.stacks=${WALK_STACKS:-} stackonce.records=${NATIVE_RECORDS:-}"
amount="$amount stackonce.seconds=${NATIVE_SECONDS:-} stackonce.loads=${NATIVE_LOADS:-}"
# shellcheck disable=SC2086 # a list
boot_all "stackonce.tests=$tests stackonce.without=$without $amount" $series || rc=1
if [ "$series" = '6.1 6.12' ] && [ -z "$tests" ]; then
	if compare_boots; then
		printf 'kaslr_boots\tOK\t1\t0\t0\n' >"$out/6.12-again/results"
	else
		rc=1
		printf 'kaslr_boots\tFAIL\t0\t1\t0\n' >"$out/6.12-again/results"
	fi
	check_skips || rc=1
fi
for s in "$out"/6.*; do
	[ ! -s "$s/skips" ] || sed "s/^/skipped in $(basename "$s"): /" "$s/skips"
	[ ! -s "$s/results" ] || awk -F '\t' -v s="$(basename "$s")" \
		'$2 == "FAIL" { print "failed in " s ": " $1 }' "$s/results"
done
summary "$out"/6.*/results || rc=1
exit "$rc"
