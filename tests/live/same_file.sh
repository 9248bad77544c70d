#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The file of a recording: a second recorder is refused, info says that a recording is in progress,
# and a file that is not a recording is never renamed or replaced.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

event=sched:sched_switch

# refused WORDS ARGS...: record ARGS exits with 1 and prints one line, which contains WORDS
refused()
{
	words=$1
	shift
	rc=0
	"$STACKONCE" record -q -e $event -d 0.1 "$@" 2>err || rc=$?
	[ "$rc" -eq 1 ] || fail "record $* ended with $rc: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || fail "record $*: $(cat err)"
	grep -qF "$words" err || fail "record $*: $(cat err)"
}

# ended FILE HOW: info prints HOW the recording has ended, or that it is still being recorded
ended()
{
	[ "$(info_of "$1" -r .ended)" = "$2" ] ||
		fail "info --json: ended is $(info_of "$1" -r .ended) for $1, not $2"
}

# ---- a file that is being written

record_bg -a -o live.stk -e $event
inode=$(stat -c %i live.stk)
refused "'live.stk' is being recorded" -o live.stk
refused "'live.stk' is being recorded" --force -o live.stk
[ "$(stat -c %i live.stk)" = "$inode" ] || fail "a refused recorder has replaced live.stk"
[ ! -e live.stk.old ] || fail "a refused recorder has renamed live.stk"
ended live.stk recording
"$STACKONCE" info live.stk | grep -q 'recording in progress' ||
	fail "info does not say that the recording is in progress"
"$STACKONCE" report live.stk >/dev/null 2>err || fail "report of a live recording: $(cat err)"
grep -q 'is being recorded' err || fail "report: $(cat err)"
! grep -q abruptly err || fail "report: $(cat err)"
"$STACKONCE" symbolize live.stk >/dev/null 2>err && fail "symbolize replaced a live recording"
grep -q 'is being' err || fail "symbolize: $(cat err)"
cp live.stk copy.stk
ended copy.stk abrupt
"$STACKONCE" report --force --flamegraph live.stk copy.stk >/dev/null 2>err &&
	fail "report --flamegraph replaced a live recording"
stop_recorder
ended live.stk clean
want_sum live.stk

# ---- a file whose recorder was killed is free

"$STACKONCE" record -q -a -o live.stk -e $event 2>record_bg.err &
recorder=$!
test_pids="$test_pids $recorder"
while_runs "$recorder" [ -e live.stk.old ] || fail "the recorder ended: $(cat record_bg.err)"
[ "$(stat -c %i live.stk.old)" = "$inode" ] || fail "live.stk.old is not the earlier recording"
wait_armed "$recorder" live.stk
end_child KILL "$recorder"
ended live.stk abrupt
record -e $event -d 0.1 -o live.stk
ended live.stk clean
ended live.stk.old abrupt

# ---- a file that is standard output

"$STACKONCE" record -q -a -o - -e $event >stdout.stk 2>err &
recorder=$!
test_pids="$test_pids $recorder"
wait_armed "$recorder" stdout.stk
ended stdout.stk recording
refused "is being recorded" -o stdout.stk
stop_recorder
ended stdout.stk clean

# ---- two recorders at the same time: one of them gets the file

"$STACKONCE" record -q -a -o both.stk -e $event 2>both.1 &
one=$!
"$STACKONCE" record -q -a -o both.stk -e $event 2>both.2 &
other=$!
test_pids="$test_pids $one $other"
while is_child "$one" && is_child "$other"; do
	sleep 0.1
done
second=$one recorder=$other
is_child "$other" || second=$other recorder=$one
rc=0
wait "$second" || rc=$?
[ "$rc" -eq 1 ] || fail "the second recorder of one file ended with $rc: $(cat both.1 both.2)"
[ "$(cat both.1 both.2 | grep -c "'both.stk' is being recorded")" -eq 1 ] ||
	fail "the second recorder of one file: $(cat both.1 both.2)"
wait_armed "$recorder" both.stk
stop_recorder
ended both.stk clean
[ ! -e both.stk.old ] || fail "two recorders of one file have renamed it"

# ---- files that are not recordings

echo mine >notes
cp live.stk a.stk
echo mine >a.stk.old
for f in '' --force; do
	# shellcheck disable=SC2086 # an option or nothing
	refused "'a.stk' would replace 'a.stk.old'" $f -o a.stk
done
refused "'notes' is not a recording" -o notes
cmp -s a.stk live.stk || fail "a refused recording has changed a.stk"
[ "$(cat a.stk.old notes)" = "$(printf 'mine\nmine')" ] ||
	fail "a refused recording has changed a file"
record --force -e $event -d 0.1 -o notes
[ "$(cat notes.old)" = mine ] || fail "--force did not keep the file as notes.old"
: >empty
record -e $event -d 0.1 -o empty
[ ! -e empty.old ] || fail "an empty file was kept"

# ---- links

mkdir there
ln -s there/real.stk link.stk
record -e $event -d 0.1 -o link.stk
record -e $event -d 0.1 -o link.stk
[ -L link.stk ] || fail "the link was replaced"
ended there/real.stk clean
ended there/real.stk.old clean
[ "$(stat -c %a there/real.stk)" = 600 ] || fail "others may read the recording"
ln -s there/other.stk theirs.stk
chown -h 12345 theirs.stk
refused "of another user" -o theirs.stk
[ ! -e there/other.stk ] || fail "a link of another user was followed"
"$STACKONCE" report --force --flamegraph theirs.stk live.stk 2>err &&
	fail "report --flamegraph followed a link of another user"
grep -q "of another user" err || fail "report: $(cat err)"
"$STACKONCE" export fsmb -q live.stk -o map || fail "export ended with $?"
"$STACKONCE" import fsmb --force map -o theirs.stk 2>err &&
	fail "import followed a link of another user"
grep -q "of another user" err || fail "import: $(cat err)"
[ ! -e there/other.stk ] || fail "a link of another user was followed"
left=$(find . -name '.stackonce*')
[ -z "$left" ] || fail "temporary files were left: $left"
