#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Mount namespaces with file systems of their own (overlay on tmpfs, chroot, btrfs snapshots), in
# which different files have the same path or the same inode number.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

need_tool unshare
unshare -m true 2>/dev/null || skip "mount namespaces are not available"
modprobe -q overlay 2>/dev/null || insmod "$PROG/overlay.ko" 2>/dev/null || :
grep -q overlay /proc/filesystems || skip "this kernel has no overlayfs"

# Copies of the programs below.  Hasty ones exit at once: the recorder may not see their file, but
# must not mistake it for another one.
for tag in 2 3 4 5 6 7 12 13 14 15 16 17; do
	"$user/mktag" "$user/utagged_s$((tag % 2))" "kept.$tag" "$tag" || fail "mktag"
	list=slow
	[ "$tag" -lt 10 ] || list=hasty
	echo "$tag $work/kept.$tag" >>$list
done
: >maps
mkdir box other_box

# Two containers on the same image, one of which gets another program under the same name.  They
# exist until something is written to the fifo `leave`.
mkfifo leave
cat >containers.sh <<'END'
enter()
{
	mount -t tmpfs tmpfs box || exit 77
	cd box || exit 1
	mkdir -p image/bin image/proc image/tmp a/upper a/work a/root b/upper b/work b/root
	cp "../kept.${1}2" image/bin/prog
	cp "../kept.${1}3" image/bin/more
	for c in a b; do
		mount -t overlay -o "lowerdir=image,upperdir=$c/upper,workdir=$c/work" \
			overlay $c/root || exit 77
		mount -t proc proc $c/root/proc
		: >$c/root/tmp/maps
	done
}
run()
{
	chroot "$1/root" "/bin/$2" 3 /tmp/maps "$ms" || exit 1
}
all()
{
	(
		enter "$1"
		run a prog
		run b prog
		"$mktag" "../kept.${1}4" a/root/bin/prog "${1}4"
		run a prog
		run b prog
		rm b/root/bin/prog
		"$mktag" "../kept.${1}5" b/root/bin/prog "${1}5"
		run a prog
		run b prog
		run a more
		mv a/root/bin/more a/root/bin/moved
		run a moved
		run b more
		cat a/root/tmp/maps b/root/tmp/maps >>../maps
	) || exit
}
ms=100
all ''
ms=0
all 1
END

# A subvolume, a snapshot that does not change, and one with another program in the same inode.
cat >btrfs.sh <<'END'
command -v mkfs.btrfs >/dev/null && command -v btrfs >/dev/null || {
	echo "mkfs.btrfs is not installed"
	exit 77
}
grep -q btrfs /proc/filesystems || {
	echo "this kernel has no btrfs"
	exit 77
}
[ -e /dev/loop-control ] || {
	echo "there are no loop devices"
	exit 77
}
truncate -s 128M image && mkfs.btrfs -q image && mount -t btrfs -o loop image other_box || exit 1
cd other_box || exit 1
all()
{
	btrfs -q subvolume create "first$1"
	"$mktag" "../kept.${1}6" "first$1/prog" "${1}6"
	btrfs -q subvolume snapshot "first$1" "same$1"
	btrfs -q subvolume snapshot "first$1" "other$1"
	"$mktag" "../kept.${1}7" "other$1/prog" "${1}7"
	for p in first same other first other same; do
		"$p$1/prog" 3 ../maps "$ms" || exit 1
	done
}
ms=100
all ''
ms=0
all 1
END

# in_namespace SCRIPT: runs the script in a mount namespace that exists until the test ends; $rc is
# its exit status.
in_namespace()
{
	mktag=$user/mktag unshare -m sh -c "(. ./$1.sh) >$1.log 2>&1
		echo \$? >$1.new; mv $1.new $1.rc; exec cat leave" &
	inside=$!
	test_pids="$test_pids $inside"
	while_runs "$inside" [ -e "$1.rc" ] || fail "$1.sh ended without a status: $(cat "$1.log")"
	rc=$(cat "$1.rc")
}

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy --user-stacks -e sched:sched_process_exit -e syscalls:sys_enter_futex \
	--filter 'uaddr >= 0x400000000000 && uaddr < 0x400004000000' -o container.stk
in_namespace containers
[ "$rc" -ne 77 ] || skip "overlay cannot be mounted here"
[ "$rc" -eq 0 ] || {
	cat containers.log
	fail "the containers ended with $rc"
}
in_namespace btrfs
case $rc in
0) btrfs="btrfs" ;;
77) btrfs="btrfs skipped ($(tail -n 1 btrfs.log))" ;;
*)
	cat btrfs.log
	fail "the programs on btrfs ended with $rc"
	;;
esac
stop_recorder
want_user container.stk
checked tags container.stk slow maps
at_least events "$(number events)" 27
at_most unknown "$(number unknown)" 0
at_most "without build id" "$(number unverified)" 0
want_complete "$(number events)" "$(number incomplete)" "$(number unreadable)"
slow="$(number events) events of $(number files_seen) files"
# If only the shells around a program still run when the recorder looks, the path is theirs.
awk -v box="$work/box" '{ print }
	$5 ~ /^\/bin\// {
		path = $5
		$5 = box "/a/root" path
		print
		$5 = box "/b/root" path
		print
	}' maps >maps.hasty
checked tags container.stk hasty maps.hasty
at_least events "$(number events)" 27
note "overlay, chroot, $btrfs: $slow; of programs that exit at once $(number right) right," \
	"$(number unverified) without build id, $(number unknown) unknown; 0 wrong"
