#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stacks are complete while another thread of the process maps, splits and unmaps memory.  In 6.1 a
# node of the tree of mappings is dead for a while before its successor is linked.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

# shellcheck disable=SC2086 # an option and its value
record $roomy -e syscalls:sys_enter_futex -o maps.stk -- \
	"$user/maps_change" "$(scale 3000 8000 20000)"
want_user maps.stk
stacks=$(info_of maps.stk .user_stacks.stacks)
[ "$stacks" -ge 10000 ] || fail "only $stacks stacks"
{
	"$STACKONCE" stacks maps.stk | grep -A 8 'user, ' | head -n 40
	info_of maps.stk .user_stacks.ends
} >checked
want_complete "$stacks" "$(info_of maps.stk '.user_stacks | .stacks - .ends.complete')" \
	"$(info_of maps.stk .user_stacks.ends.unreadable)"
note "$stacks stacks, all complete"
