#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Kernel stacks with frames in modules are walked, too: in those that were there, and in those that
# come, go and come back somewhere else.  Each stack is compared with bpf_get_stack()'s.
# timeout: 240
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
need_tracefs
need_tool ip
need_tool ping

# load MODULE: from the system, or from among the workloads.
load()
{
	modprobe -q "$1" 2>/dev/null || insmod "$PROG/$1.ko" 2>/dev/null || skip "no module $1 here"
}
restore()
{
	for m in dummy veth; do
		rmmod "$m" 2>/dev/null || :
	done
}
# value KEY: of what walk_dropin said.
value()
{
	sed -n "s/^$1 //p" said
}

! grep -q -E '^(dummy|veth) ' /proc/modules || skip "the modules dummy or veth are in use"
load veth
load dummy
printf '%s\n' skb:kfree_skb skb:consume_skb net:net_dev_queue net:net_dev_xmit kmem:kmalloc >events
cat >comes_and_goes <<END
load()
{
	modprobe -q "\$1" 2>/dev/null || insmod "$PROG/\$1.ko"
}
round=0
while [ \$round -lt $(scale 20 8) ]; do
	round=\$((round + 1))
	ip link add stk0 type dummy || exit 1
	ip addr add 10.213.8.1/24 dev stk0 && ip link set stk0 up || exit 1
	sleep 0.5 # its rules are read by then
	for host in 2 3 4 5 6 7 8 9; do # who has that address?
		ping -c 1 -W 1 10.213.8.\$host >/dev/null 2>&1 &
	done
	wait
	ip link del stk0 && rmmod dummy || exit 1
	if [ \$((round % 2)) -eq 0 ]; then load veth; else rmmod veth; fi || exit 1
	load dummy || exit 1
done
END
rc=0
"$PROG/walk_dropin" right events sh comes_and_goes >said 2>err || rc=$?
[ "$rc" -ne 77 ] || skip "$(tail -n 1 err)"
[ "$rc" -eq 0 ] || fail "$(cat said err)"
[ "$(value differed)" -eq 0 ] || fail "$(value differed) stacks differ"
[ "$(value through_modules)" -ge "$(scale 80 32)" ] || fail "$(cat said)"
[ "$(($(value agreed) + $(value unchecked)))" -eq "$(value walked)" ] || fail "$(cat said)"
note "$(value agreed) stacks equal, $(value through_modules) of them through modules; left to the kernel \
$(value 'other text') in other text, $(value 'no rule') without a rule, $(value 'left the stack') off the stack"
