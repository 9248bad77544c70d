#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A file's first stacks: programs and libraries that nobody has run before, each a new file, have
# complete stacks from their first event on, although their unwind tables are not there yet.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

files=$(scale 100 15)
for i in $(seq 1 "$files"); do
	"$user/mktag" "$user/utagged$((i % 3))" "one$i" "$i" || fail "mktag"
	"$user/mktag" "$user/utagged_s$((i % 3))" "other$i" $((i + 1000)) || fail "mktag"
	echo "$i $work/one$i" >>list
	echo "$((i + 1000)) $work/other$i" >>list
	echo "./one$i 20 maps && ./other$i 20 maps || exit 1" >>all
done
record -e syscalls:sys_enter_futex -o first.stk -- sh all
want_user first.stk
checked tags first.stk list maps
lost=$(info_of first.stk .totals.lost)
at_least events "$(number events)" $((files * 40 - lost))
at_most unknown "$(number unknown)" 0
at_most "without build id" "$(number unverified)" 0
at_most incomplete "$(number incomplete)" 0
note "$(number events) events of $(number files_seen) new files," \
	"$(info_of first.stk .user_stacks.deferred) unwound by the recorder, all complete"
