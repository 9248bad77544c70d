#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Files that have two names, are renamed, deleted, or replaced by others with the same name, inode,
# size and time: every frame is of the right file, which is shown as in /proc/PID/maps.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

restore()
{
	umount bound 2>/dev/null || :
}

# tagged PATH TAG [LIST]: creates a program, one of three variants depending on the tag.
tagged()
{
	"$user/mktag" "$user/utagged$(($2 % 3))" "kept.$2" "$2" || fail "mktag"
	"$user/mktag" "kept.$2" "$1" "$2" || fail "mktag"
	echo "$2 $work/kept.$2" >>"${3:-list}"
}

# start PATH: runs the program until its input ends.
start()
{
	mkfifo say
	: >answers
	"$1" 0 maps <say >answers &
	running=$!
	test_pids="$test_pids $running"
	exec 8>say
	rm say
	answers=0
	call
}
# call: makes the program call, and waits for its answer.
call()
{
	answers=$((answers + 1))
	echo go >&8
	until_true 10 answered || fail "the program does not answer"
}
answered()
{
	[ "$(wc -l <answers)" -ge "$answers" ]
}
# seen TAG: a frame in the recording has the file's build id, which begins with the tag.
seen()
{
	"$STACKONCE" stacks --json files.stk |
		grep -q "\"build_id\":\"$(printf %02x00000000000000 "$1")"
}
# stop TAG: ends the program when the recorder has seen its file.
stop()
{
	until_true 10 seen "$1" || fail "the recorder has not seen the file of tag $1"
	exec 8>&-
	wait "$running"
}

: >list
: >maps
# A program that was started before the recording, and whose file is deleted already.
mkdir bound dir
tagged early 1
mkfifo say
./early 0 maps <say >early.answers &
early=$!
test_pids="$test_pids $early"
exec 7>say
until_true 10 test -s maps || fail "the program does not start"
rm early say

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy --user-stacks -e sched:sched_process_exit -e syscalls:sys_enter_futex \
	--filter 'uaddr >= 0x400000000000 && uaddr < 0x400004000000' -o files.stk 7>&-
echo go >&7

# A file with two names, and a bind mount of its directory.
tagged dir/two 2
ln dir/two dir/names
./dir/two 3 maps
./dir/names 3 maps
no_bind=
if mount --bind dir bound 2>bind.err; then
	./bound/two 3 maps
else
	no_bind=", no bind mount ($(tail -n 1 bind.err))"
fi

# Files that are renamed, deleted and replaced while they run.
tagged old_name 3
start ./old_name
mv old_name new_name
call
stop 3
./new_name 3 maps
tagged deleted 4
start ./deleted
rm deleted
call
stop 4
tagged replaced 5
start ./replaced
tagged other 6
mv other replaced
call
./replaced 3 maps
call
stop 5

# run_one PATH TAG LIST: programs of the list `hasty` exit before the recorder looks: it may not
# know their files, but must not mistake them for others.
run_one()
{
	if [ "$3" = hasty ]; then
		"$1" 3 maps
		return
	fi
	start "$1"
	call
	call
	stop "$2"
}

# become LIST TAG...: replaces a program by another one again and again, overwritten in place (the
# same name, inode, size and modification time), and created anew (file systems often reuse the
# inode).
become()
{
	list=$1
	shift
	for tag; do
		tagged same "$tag" "$list"
		touch -d '2020-01-02 03:04:05' same
		run_one ./same "$tag" "$list"
		./same 3 maps
		rm -f anew
		tagged anew $((tag + 100)) "$list"
		touch -d '2020-01-02 03:04:05' anew
		run_one ./anew $((tag + 100)) "$list"
	done
}
become list 7 8 9 10 11
become hasty 12 13 14 15 16 17 18 19
echo go >&7
exec 7>&-
wait "$early"
stop_recorder
want_user files.stk
sort -u list -o list
sort -u hasty -o hasty
checked tags files.stk hasty maps
hasty="$(number right) right, $(number unverified) without build id, $(number unknown) unknown"
checked tags files.stk list maps
at_least events "$(number events)" 50
at_most unknown "$(number unknown)" 0
at_most "without build id" "$(number unverified)" 0
want_complete "$(number events)" "$(number incomplete)" "$(number unreadable)"
at_least "shown as in maps" "$(number shown_as_in_maps)" 100

# A file with two or three names, and a renamed file with both names.
"$ucheck" dump files.stk files >known
for names in dir/two:dir/names old_name:new_name; do
	[ "$(grep -F "$work/${names%:*}|" known | grep -c -F "$work/${names#*:}|")" -eq 1 ] || {
		cat known
		fail "$names: there is not one file with these names"
	}
done
if [ -z "$no_bind" ]; then
	grep -F "$work/dir/two|" known | grep -q -F "$work/bound/two|" ||
		fail "the file's name in the bind mount is missing"
fi
note "$(number events) events of $(number files_seen) files right;" \
	"of programs that exit at once $hasty; 0 wrong$no_bind"
