#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq and of another shell have variables of their own
# Without BPF: the eight user frames that ftrace records of a program with frame pointers are the
# right offsets of the right file: for a program that was started by the recorder, for one that ran
# before, and wherever its code was loaded.  A program that exits too soon has no wrong frame.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
need_tracefs
cd "$work" || exit 1

n=$(scale 2000 300)
event=syscalls:sys_enter_getppid
path=$(readlink -f "$PROG/fpchain")
mkfifo stay

# known FILE NUMBER: at least NUMBER events in the file have a stack whose frames are known to be of
# the program's file.
known()
{
	[ "$("$STACKONCE" stacks --json "$1" 2>/dev/null | jq -n --arg path "$path" '[inputs |
		select(.kind == "user" and .frames[0].path == $path).refs] | add // 0')" -ge "$2" ]
}

# stay_until_known FILE NUMBER: waits until the frames are known, then lets the programs end, which
# read from `stay`.  The recorder ends with them.
stay_until_known()
{
	exec 8>stay
	until_true 10 known "$1" "$2" || fail "$1: fewer than $2 events with the program's file"
	exec 8>&-
	wait_recorder
}

# record_known FILE NUMBER COMMAND...
record_known()
{
	file=$1
	number=$2
	shift 2
	"$STACKONCE" record -q --backend ftrace --user-stacks -e $event -o "$file" -- "$@" \
		<stay >record_bg.out 2>record_bg.err &
	recorder=$!
	test_pids="$test_pids $recorder"
	stay_until_known "$file" "$number"
}

# is_cut FILE: stacks of the program lack outer frames, and none is wrong otherwise.
is_cut()
{
	[ "$("$STACKONCE" stacks --json "$1" | jq -n --arg path "$path" \
		--argjson want "$(jq -R . <places | jq -s .)" '
		[inputs | select(.kind == "user" and .frames[0].path == $path) | [.frames[].ip]] |
		map(select(. != $want[0:8])) |
		length > 0 and all(.[]; . == $want[0:length])')" = true ]
}

# until_whole FILE COMMAND...: the command makes the recording.  While the kernel migrates the page
# of a stack, ftrace cannot read it: where pages were moved and stacks are cut, the recording is
# made again, up to four times.
until_whole()
{
	whole=$1
	shift
	for _ in 1 2 3 4 5; do
		rm -f "$whole"
		moved_before=$(pages_moved)
		"$@"
		{ [ "$(pages_moved)" -gt "$moved_before" ] && is_cut "$whole"; } || break
		note "$whole: stacks are cut, and pages were moved"
	done
	want_sum "$whole"
}

# want_frames FILE NUMBER: the program has NUMBER events, all with its eight frames.
want_frames()
{
	"$STACKONCE" stacks --json "$1" >stacks.json
	jq -r --arg path "$path" 'select(.kind == "user" and
		([.frames[] | [.ip, .path]] == [$want[0:8][] | [., $path]]) and
		.end == "at_limit" and (.frames[0].guessed | not)) | .id' \
		--argjson want "$(jq -R . <places | jq -s .)" stacks.json >ids
	[ "$(wc -l <ids)" -eq 1 ] || {
		jq -c 'select(.kind == "user")' stacks.json
		cat places
		fail "$1: $(wc -l <ids) stacks are the program's, instead of one"
	}
	jq -r --arg build "$(build_id)" --argjson id "$(cat ids)" \
		'select(.id == $id) | .frames[] | select(.build_id != $build)' stacks.json >other
	[ ! -s other ] || fail "$1: frames with another build id"
	events=$("$STACKONCE" script --json --comm fpchain --event $event "$1" |
		jq -r --argjson id "$(cat ids)" 'select(.ustack == $id) | .ts' | wc -l)
	[ "$events" -eq "$2" ] || fail "$1: $events events with the program's stack instead of $2"
	[ "$("$STACKONCE" script --json --comm fpchain --event $event "$1" | wc -l)" -eq "$2" ] ||
		fail "$1: the program has events with other stacks, too"
}

build_id()
{
	"$STACKONCE" stacks --json first.stk |
		jq -r 'select(.kind == "user") | .frames[0].build_id' | sort -u | grep -v null |
		head -n 1
}

"$PROG/fpchain" >places
until_whole first.stk record_known first.stk "$n" "$PROG/fpchain" "$n" 1
if command -v readelf >/dev/null 2>&1; then
	readelf -n "$PROG/fpchain" | grep -q "Build ID: $(build_id)" ||
		fail "the build id differs from readelf's"
fi
want_frames first.stk "$n"

# Three processes at once, each loaded at another address, have the same stack.
until_whole three.stk record_known three.stk $((n * 3)) sh -c '
	for _ in 1 2 3; do "$0" "$1" 1 <stay >/dev/null & done; wait' "$PROG/fpchain" "$n"
want_frames three.stk $((n * 3))

# A program that ran before the recording.
cat >later <<'END'
until [ -e go ]; do
	sleep 0.1
done
exec "$1" "$2" 1 <stay
END
record_before()
{
	rm -f go
	sh later "$PROG/fpchain" "$n" >/dev/null &
	test_pids="$test_pids $!"
	record_bg --backend ftrace --user-stacks -e $event -e sched:sched_switch -p $! -o before.stk
	: >go
	stay_until_known before.stk "$n"
}
until_whole before.stk record_before
want_frames before.stk "$n"

# A program that exits at once: its maps were read in time, or its frames have no file.
record --backend ftrace --user-stacks -e $event -o gone.stk -- "$PROG/fpchain" 3
want_sum gone.stk
[ "$(counted gone.stk $event recorded)" -eq 3 ] || fail "gone.stk: not three calls are recorded"
"$STACKONCE" stacks --json gone.stk >stacks.json || fail "stacks of gone.stk ended with $?"
grep -q '"kind":"user"' stacks.json || fail "gone.stk has no user stack"
jq -c --arg path "$path" --argjson want "$(jq -R . <places | jq -s .)" \
	'select(.kind == "user") | .frames | to_entries[] | select(.value.path != null) |
	select(.value.path != $path or .value.ip != $want[.key])' stacks.json >wrong ||
	fail "jq: frames of gone.stk"
[ ! -s wrong ] || {
	cat wrong
	fail "wrong frames of a program that exited at once"
}
note "$((n * 5)) events of five processes with all eight frames right"
