# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $PROG
# Compares walked kernel stacks with those of bpf_get_stack().  Sourced after lib.sh, used in $work.

# value KEY: prints the number of the line "KEY NUMBER" in walk_dropin's output.
value()
{
	sed -n "s/^$1 //p" walks
}

# Functions at which kprobe programs walk, too.  A kernel may have them under another name.
probed_functions()
{
	printf '%s\n' vfs_read vfs_write vfs_statx do_filp_open kmem_cache_free ttwu_do_activate \
		kill_pid_info ext4_file_write_iter blk_mq_submit_bio tcp_sendmsg
}

# compare_stacks EVENTS COMMAND...: each stack walked while the command runs must equal that of
# bpf_get_stack().
compare_stacks()
{
	rc=0
	"$PROG/walk_dropin" right "$@" >walks 2>err || rc=$?
	[ "$rc" -ne 77 ] || skip "$(tail -n 1 err)"
	[ "$rc" -eq 0 ] || fail "$(cat walks err)"
	[ "$(value differed)" -eq 0 ] ||
		fail "$(value differed) stacks differ: $(grep -v _at walks)"
	[ "$(($(value agreed) + $(value unchecked)))" -eq "$(value walked)" ] || fail "$(cat walks)"
	# Few events happen between attaching the two programs, or while one of them runs.
	[ "$((10 * $(value seen_raw_too)))" -ge "$((9 * $(value seen_at_event)))" ] ||
		fail "raw tracepoint programs get different stacks: $(grep -v _at walks)"
	[ "$((20 * $(value not_begun_at_raw)))" -le "$(value walked_at_raw)" ] ||
		fail "$(value not_begun_at_raw) walks in raw tracepoint programs did not begin:" \
			"$(grep -v _at walks)"
}

# load_module MODULE: loads a module of the system, or the one among the workloads.
load_module()
{
	modprobe -q "$1" 2>/dev/null || insmod "$PROG/$1.ko" 2>/dev/null ||
		skip "module $1 is not available"
}

# network_modules: loads dummy and veth, and writes the script comes_and_goes, which unloads and
# loads them.
network_modules()
{
	need_tool ip
	need_tool ping
	! grep -q -E '^(dummy|veth) ' /proc/modules || skip "the modules dummy or veth are in use"
	load_module veth
	load_module dummy
	cat >comes_and_goes <<'END'
load()
{
	modprobe -q "$1" 2>/dev/null || insmod "$PROG/$1.ko"
}
round=0
while [ $round -lt "$1" ]; do
	round=$((round + 1))
	ip link add stk0 type dummy || exit 1
	ip addr add 10.213.8.1/24 dev stk0 && ip link set stk0 up || exit 1
	sleep 0.5 # the recorder has read its rules by then
	for host in 2 3 4 5 6 7 8 9; do # each ping sends an ARP request
		ping -c 1 -W 1 10.213.8.$host >/dev/null 2>&1 &
	done
	wait
	ip link del stk0 && rmmod dummy || exit 1
	if [ $((round % 2)) -eq 0 ]; then load veth; else rmmod veth; fi || exit 1
	load dummy || exit 1
done
END
}

remove_network_modules()
{
	for m in dummy veth; do
		rmmod "$m" 2>/dev/null || :
	done
}
