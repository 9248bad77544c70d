# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $work, $PROG
# Sets up memory that is shared, merged, swapped, migrated and compacted, for $PROG/rmap_work, which
# runs in $work with the arguments mnt and "$group".  Sourced after lib.sh.

ksm=/sys/kernel/mm/ksm
shmem=/sys/kernel/mm/transparent_hugepage/shmem_enabled
lists=/proc/sys/vm/percpu_pagelist_high_fraction
group=

rmap_set_up()
{
	[ -d /sys/devices/system/node/node1 ] || skip "there is no second node to migrate to"
	[ ! -e /dev/ram0 ] || skip "RAM disks exist already"
	modprobe -q brd rd_nr=2 rd_size=32768 2>/dev/null ||
		insmod "$PROG/brd.ko" rd_nr=2 rd_size=32768 2>/dev/null ||
		skip "module brd is not available"
	mkdir mnt cgroup
	{
		mke2fs /dev/ram0 && mount -t ext2 /dev/ram0 mnt &&
			mkswap /dev/ram1 && swapon /dev/ram1
	} >setup 2>&1 || fail "cannot set up the file system or swap: $(tail -n 1 setup)"
	mount -t cgroup2 none cgroup || skip "cgroup2 cannot be mounted"
	echo +memory >cgroup/cgroup.subtree_control || skip "the memory controller is not available"
	old_sleep=$(cat $ksm/sleep_millisecs)
	old_pages=$(cat $ksm/pages_to_scan)
	old_shmem=$(sed 's/.*\[\(.*\)\].*/\1/' $shmem)
	old_lists=$(cat $lists)
	group=$work/cgroup/rmap
	mkdir "$group"
	[ -w "$group/memory.reclaim" ] || skip "cgroups have no memory.reclaim"
	echo 0 >$ksm/sleep_millisecs
	echo 1000 >$ksm/pages_to_scan
	echo advise >$shmem
	# compaction does not find free pages that are in the per-CPU lists
	echo 100000 >$lists
}

rmap_restore()
{
	[ -n "$group" ] || return 0
	echo 2 >$ksm/run
	echo 0 >$ksm/run
	echo "$old_sleep" >$ksm/sleep_millisecs
	echo "$old_pages" >$ksm/pages_to_scan
	echo "$old_shmem" >$shmem
	echo "$old_lists" >$lists
	rmdir "$group"
	umount "$work/cgroup" "$work/mnt"
	swapoff /dev/ram1
	rmmod brd
}
