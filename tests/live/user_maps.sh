#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# While a thread maps, splits and unmaps memory all the time, the stacks of others are complete: the tree
# of mappings is read as it is, and in 6.1 some of its nodes are dead before others are in their place.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

# shellcheck disable=SC2086 # an option and its value
record $roomy -e syscalls:sys_enter_futex -o maps.stk -- "$user/maps_change" "$(scale 3000 8000 20000)"
want_user maps.stk
stacks=$(info_of maps.stk .user_stacks.stacks)
[ "$stacks" -ge 10000 ] || fail "only $stacks stacks"
info_true maps.stk '.user_stacks | .stacks == .ends.complete' || {
	"$STACKONCE" stacks maps.stk | grep -A 8 'user, ' | head -n 40
	fail "not all stacks are complete: $(info_of maps.stk -c .user_stacks.ends)"
}
note "$stacks stacks, all complete"
