#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every preset that this kernel can record is recorded for a moment and read by the command that
# answers it; the other ones are refused with a reason, as `list --presets` says.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tracefs
cd "$work" || exit 1
"$STACKONCE" list --presets --json >presets || fail "list --presets ended with $?"
jq -r '[.name, .recordable, .answer,
	([.events[] | select(.optional | not) | .event] | first)] | @tsv' presets >table
[ -s table ] || fail "list --presets prints nothing"
want_json list presets

# load: a mix of processes, files, a pipe and sleeps.
load()
{
	for _ in 1 2 3; do
		sh -c 'sleep 0.05; exit 3' || :
		find /etc -type f 2>/dev/null | head -n 50 | xargs cat 2>/dev/null |
			wc -c >/dev/null
	done
}

# begin_load: runs the load until end_load, because a recording takes long to start in an emulated
# machine.
begin_load()
{
	(while :; do load; done) &
	loader=$!
	test_pids="$test_pids $loader"
}

end_load()
{
	end_child TERM "$loader"
}

nr=0
refused=0
tab=$(printf '\t')
while IFS=$tab read -r name recordable answer event; do
	if [ "$recordable" = false ]; then
		refused=$((refused + 1))
		"$STACKONCE" record --preset "$name" -o out.stk -d 1 2>err &&
			fail "$name was recorded, but list --presets says that it cannot be"
		grep -q '^stackonce: .*:' err ||
			fail "$name was refused without a reason: $(cat err)"
		continue
	fi
	begin_load
	"$STACKONCE" record --preset "$name" -a -d "$(scale 0.5 1)" -o out.stk 2>err </dev/null ||
		fail "$name: record ended with $?: $(cat err)"
	end_load
	grep -qF "read it with 'stackonce $answer out.stk'" err ||
		fail "$name: record does not name the command to read it with: $(cat err)"
	info_true out.stk --arg e "$event" 'any(.events[]; .name == $e)' ||
		fail "$name: no $event in the recording"
	case $name in
	lifecycle | offcpu | syscalls | timer | runqueue | page-fault)
		[ "$(counted out.stk "$event" happened)" -gt 0 ] || fail "$name: no $event happened"
		;;
	esac
	# shellcheck disable=SC2086 # the words of the command
	"$STACKONCE" $answer out.stk >text 2>err </dev/null ||
		fail "$name: $answer ended with $?: $(cat err)"
	[ -s text ] || fail "$name: $answer prints nothing"
	# shellcheck disable=SC2086
	"$STACKONCE" $answer --json out.stk 2>err </dev/null >json ||
		fail "$name: $answer --json ended with $?"
	jq -es 'length > 0 and all(type == "object")' json >/dev/null ||
		fail "$name: $answer --json does not print JSON objects"
	want_json "${answer%% *}" json
	for command in info 'script --stacks' stacks files; do
		# shellcheck disable=SC2086
		"$STACKONCE" $command --json out.stk >json ||
			fail "$name: $command --json ended with $?"
		want_json "${command%% *}" json
	done
	[ "$name" != lifecycle ] || mv out.stk lifecycle.stk
	nr=$((nr + 1))
done <table
[ "$nr" -gt 0 ] || fail "no preset could be recorded"

# Two presets and an event.  An event has no filter if one of them selects it without a filter.
record --preset lifecycle,offcpu -e sched:sched_stat_runtime -o out.stk -- true
info_true out.stk 'any(.events[]; .name == "sched:sched_switch" and .filter == "")' ||
	fail "the filter of lifecycle applies to the switches of offcpu"
# The preset records user stacks by default, but not with --no-user-stacks.
[ "$("$STACKONCE" script --json lifecycle.stk | jq -s 'map(select(.ustack)) | length')" -gt 0 ] ||
	fail "lifecycle has no user stacks"
begin_load
record --preset lifecycle --no-user-stacks -a -d 0.5 -o out.stk
end_load
[ "$("$STACKONCE" script --json out.stk | jq -s 'map(select(.ustack)) | length')" -eq 0 ] ||
	fail "lifecycle has user stacks although --no-user-stacks was given"
note "$nr presets recorded and read, $refused refused"
