#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Programs of some 50 us whose files have lost their names: each file can be opened only before its
# program ends, on whatever CPU it runs.  Hardly any is missed, and a missed file costs no search in
# the mappings of all processes.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

programs=$(scale 200 40 1000)
record -e syscalls:sys_enter_futex -o gone.stk -- "$user/uvanish" "$programs" "$user/utiny0"
want_user gone.stk
missed=$("$STACKONCE" files --json gone.stk | grep -c '"gone":true')
incomplete=$(info_of gone.stk '.user_stacks | .stacks - .ends.complete')
: >checked
note "$missed of $programs files were not opened in time, $incomplete stacks are incomplete," \
	"$(info_of gone.stk .user_stacks.deferred) were unwound by the recorder"
some=$(scale $((programs / 10)) $((programs / 5)))
at_most "files that were not opened in time" "$missed" "$some"
at_most "incomplete stacks" "$incomplete" "$some"
