#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module is loaded, unloaded and loaded again during a recording, at another address or with
# another module in its place: its functions are named with their module each time.
# alone: it loads and unloads modules
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
need_tracefs
need_tool ip
need_tool ping

# load MODULE: loads a module of the system, or the one among the workloads.
load()
{
	modprobe -q "$1" 2>/dev/null || insmod "$PROG/$1.ko" 2>/dev/null ||
		skip "module $1 is not available"
}
restore()
{
	for m in dummy veth; do
		rmmod "$m" 2>/dev/null || :
	done
}
# packets: prints how many packets of a network device are in the file, with named stacks.
packets()
{
	"$STACKONCE" stacks --json trace.stk | jq -n '[inputs | .refs as $refs | [.frames[].sym] |
		index("dev_hard_start_xmit") as $i |
		select($i and .[$i - 1] != "loopback_xmit") | $refs] | add // 0'
}
all_of()
{
	[ "$(packets)" -ge "$1" ]
}
# send: sends an ARP request through dummy's xmit function.
send()
{
	load dummy
	packets=$(packets)
	ip link add stk0 type dummy 2>/dev/null || :
	ip addr add 10.213.7.1/24 dev stk0 || skip "cannot add an address to a network device"
	ip link set stk0 up
	ping -c 1 -W 1 10.213.7.2 >/dev/null 2>&1 || :
	# this stops the packets; those that were sent get their names before dummy is unloaded
	ip link set stk0 down
	sent=$(cat /sys/class/net/stk0/statistics/tx_packets)
	[ "$sent" -gt 0 ] || fail "no packet was sent"
	until_true 10 all_of $((packets + sent)) ||
		fail "$sent packets were sent, but not all are in the file"
	ip link del stk0
	grep ' dummy_xmit' /proc/kallsyms >>places
	rmmod dummy || fail "dummy cannot be unloaded"
}

! grep -q -E '^(dummy|veth) ' /proc/modules || skip "the modules dummy or veth are in use"
# the addresses in kallsyms at the start of the recording are wrong soon after it
load veth
load dummy
# exits are frequent: record_bg sees soon that the recorder is armed
record_bg -o trace.stk -a -e skb:kfree_skb -e skb:consume_skb -e sched:sched_process_exit
rmmod dummy
rmmod veth
send
load veth
send
rmmod veth
send
stop_recorder
"$STACKONCE" stacks --json trace.stk | jq -r '[.frames[] | "\(.sym) \(.mod)"] |
	index("dev_hard_start_xmit null") as $i | select($i) | .[$i - 1]' | sort | uniq -c >senders
grep -q 'dummy_xmit dummy$' senders || fail "no stack goes through dummy_xmit"
grep -v -E 'dummy_xmit dummy$|loopback_xmit null$' senders && fail "xmit functions have wrong names"
note "dummy_xmit was at $(sort -u places | wc -l) addresses"
