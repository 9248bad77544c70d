#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The fields that we print equal those in the kernel's `trace` file, for every event that happens
# while a workload does a little of everything.  The events are enabled in rounds, because the
# frequent ones would fill the buffer.  ftrace's own events and those of early boot cannot be
# enabled.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
[ "$(cat /proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "kernel.kptr_restrict hides the symbols"
new_instance
for o in context-info annotate overwrite; do
	echo 0 >"$instance/options/$o" || fail "cannot clear option $o"
done
[ -e "$instance/options/hash-ptr" ] || skip "this kernel hashes all pointers"
scale 12288 6144 >"$instance/buffer_size_kb"

frequent='sched irq irq_vectors rcu timer power workqueue ipi csd tlb msr x86_fpu exceptions
	maple_tree percpu filemap pagemap mmap mmap_lock rseq vmalloc signal task cpuhp
	context_tracking'
memory='kmem page_isolation compaction'
calls='syscalls raw_syscalls'
left_out='ftrace lock preemptirq initcall'

is_in()
{
	for one in $2; do
		[ "$one" != "$1" ] || return 0
	done
	return 1
}

# compare_round NAME WORKLOAD SYSTEM...: compares the events of these systems during the workload
compare_round()
{
	round=$1
	workload=$2
	shift 2
	echo 0 >"$instance/tracing_on"
	echo >"$instance/trace"
	for s; do
		[ ! -e "$instance/events/$s/enable" ] || echo 1 >"$instance/events/$s/enable" ||
			[ ! -e "$instance/events/$s/enable" ] || fail "$s cannot be enabled"
	done
	echo 1 >"$instance/tracing_on"
	$workload
	echo 0 >"$instance/tracing_on"
	for s; do
		[ ! -e "$instance/events/$s/enable" ] || echo 0 >"$instance/events/$s/enable"
	done
	"$PROG/format_equal" "$instance" >"$round.out"
	rc=$?
	grep -v '^#' "$round.out"
	note "$round: $(sed -n 's/^# //p' "$round.out")"
	[ $rc -eq 0 ] || fail "events of round $round differ"
}

many_kinds()
{
	"$PROG/manykinds" "$work" || fail "the workload failed"
}

# The same on the file systems that this machine can make and mount, which must be at least one,
# including the events of mount and umount.
file_systems()
{
	mounted=
	mkdir -p "$work/mnt"
	for fs in $disks; do
		rm -f "$work/image"
		truncate -s 320M "$work/image"
		"mkfs.$fs" "$work/image" >/dev/null 2>&1 || continue
		mount -o loop "$work/image" "$work/mnt" || continue
		"$PROG/manykinds" "$work/mnt" || fail "the workload failed on $fs"
		cp "$PROG/manykinds" "$work/mnt" && rm "$work/mnt/manykinds"
		umount "$work/mnt" || fail "cannot unmount $fs"
		note "file system $fs"
		mounted="$mounted $fs"
	done
	[ -n "$mounted" ] || fail "none of$disks can be made and mounted"
}

disks=
for fs in ext4 xfs btrfs; do
	if command -v "mkfs.$fs" >/dev/null 2>&1; then
		disks="$disks $fs"
	fi
done
quiet=
systems=$(ls "$instance/events")
# Where an event that was enabled is removed, as a probe of another test, the kernel empties the
# ring of the instance.
probes=$(sed -n 's/^[^:]*:\([^/ ]*\).*/\1/p' "$tracefs/dynamic_events" 2>/dev/null | sort -u)
for s in $systems; do
	[ ! -d "$instance/events/$s" ] || is_in "$s" "$frequent $memory $calls $left_out $probes" ||
		quiet="$quiet $s"
done
# shellcheck disable=SC2086 # lists of names
{
	compare_round quiet many_kinds $quiet
	compare_round frequent many_kinds $frequent
	compare_round memory many_kinds $memory
	compare_round calls many_kinds $calls
	[ -z "$disks" ] ||
		compare_round disks file_systems xfs btrfs ext4 jbd2 iomap filelock fs_dax
}
cat ./*.out | awk '!/^#/ && NF == 5 { n[$1] = 1; sum += $2; unknown += $4; hashed += $5 }
	END { for (e in n) nr++
		printf "# %d records of %d events are equal (%d but for pointers), %d unknown\n",
			sum - unknown, nr, hashed, unknown }'
