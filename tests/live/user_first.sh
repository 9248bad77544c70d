#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A file's first stacks: programs and libraries that have never run before, each a new file, have
# complete stacks from their first event on, although their unwind tables are not loaded yet, even
# if the recorder's threads that open the files get no CPU time.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

# all_complete FILE MAPS EVENTS: the recording has these events, all with complete stacks
all_complete()
{
	want_user "$1"
	checked tags "$1" list "$2"
	lost=$(info_of "$1" .totals.lost)
	at_least events "$(number events)" $(($3 - lost))
	at_most unknown "$(number unknown)" 0
	at_most "without build id" "$(number unverified)" 0
	want_complete "$(number events)" "$(number incomplete)" "$(number unreadable)"
}

files=$(scale 100 15)
for i in $(seq 0 "$files"); do
	"$user/mktag" "$user/utagged$((i % 3))" "one$i" "$i" || fail "mktag"
	"$user/mktag" "$user/utagged_s$((i % 3))" "other$i" $((i + 1000)) || fail "mktag"
	echo "$i $work/one$i" >>list
	echo "$((i + 1000)) $work/other$i" >>list
	[ "$i" -eq 0 ] || echo "./one$i 20 maps && ./other$i 20 maps || exit 1" >>all
done

# shellcheck disable=SC2016,SC2086 # variables of the other shell; an option and its value
record $roomy -e syscalls:sys_enter_futex -o starved.stk -- sh -c '
	openers=$(grep -l "^stackonce-files$" /proc/$PPID/task/*/comm | sed "s|/comm||; s|.*/||")
	"$0" 600 ${openers:?} && ./one0 20 starved && ./other0 20 starved' "$PROG/starve"
all_complete starved.stk starved 40

# shellcheck disable=SC2086
record $roomy -e syscalls:sys_enter_futex -o first.stk -- sh all
all_complete first.stk maps $((files * 40))
note "$(number events) events of $(number files_seen) new files," \
	"$(info_of first.stk .user_stacks.deferred) unwound by the recorder, all complete"
