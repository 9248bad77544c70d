#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Kernel stacks with frames in modules are walked, too: in modules that were loaded before, and in
# modules that are unloaded and loaded again at another address.  Each stack is compared with that
# of bpf_get_stack().
# alone: it loads and unloads modules
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_walk.sh
. "$LIVE/lib_walk.sh"
cd "$work" || exit 1
need_tracefs

restore()
{
	remove_network_modules
}

network_modules
printf '%s\n' skb:kfree_skb skb:consume_skb net:net_dev_queue net:net_dev_xmit kmem:kmalloc >events
compare_stacks events sh comes_and_goes "$(scale 20 8)"
[ "$(value through_modules)" -ge "$(scale 80 32)" ] ||
	fail "only $(value through_modules) stacks go through modules: $(cat walks)"
note "$(value agreed) stacks equal, $(value through_modules) of them through modules;" \
	"left to the kernel: $(value 'other text') in other text, $(value 'no rule') without" \
	"a rule, $(value 'left the stack') off the stack"
