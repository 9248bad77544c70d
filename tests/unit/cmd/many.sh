#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Several recordings that together hold what one holds are read as that one: every reading command
# prints the same.
#   many.sh STACKONCE MAKE_RECORDING SPLIT_RECORDING GOLDEN_DIR
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") split=$(realpath "$3") golden=$(realpath "$4")
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
record small empty long hostile losses flags strings user user-hostile guesses latency \
	lifecycle zombies wakers selected stalls addresses aliases
cp "$golden/rmap.stk" "$golden/waits.stk" "$golden/demo.stk" .

nr=0

# Removes what is true of a file: its name, size and uuid, and which one it continues.
hide_files()
{
	LC_ALL=C sed -E -e '/^File  /d' -e 's/^(uuid|continues): .*//' \
		-e "s/'[^']*\\.(whole|[0-9])( and [0-9]+ more)?'/FILE/g" \
		-e 's/[0-9.]+ bytes per event, [0-9.]+ of them/N bytes per event, N of them/' \
		-e '/^$/d'
}

# run FILES COMMAND...: what the command prints of these files
run()
{
	files=$1
	shift
	echo "== stackonce $*"
	if [ "$*" = "info --json" ]; then
		# shellcheck disable=SC2086 # the files are words
		"$stackonce" "$@" $files 2>messages </dev/null | jq -S "del(.files, .file, .bytes,
			.bytes_per_event, .meta.uuid, .meta.continues)"
		cat messages
	else
		# shellcheck disable=SC2086
		"$stackonce" "$@" $files 2>&1 </dev/null
	fi
	echo "exit $?"
}

# run_all FILES
run_all()
{
	run "$1" info -v
	run "$1" info --json
	run "$1" script
	run "$1" script --json --stacks
	run "$1" report
	run "$1" report --by event,comm,cpu --json
	run "$1" report --tree
	run "$1" report --callees --json
	run "$1" report --folded --by comm
	run "$1" stacks
	run "$1" stacks --json
	run "$1" files
	run "$1" files --json
	run "$1" latency --preset runqueue
	run "$1" latency --preset runqueue --json
	run "$1" latency --preset syscalls
	run "$1" latency --start sched_switch --end sched_switch --match prev_pid=next_pid
	run "$1" lifecycle
	run "$1" lifecycle --json --all
	run "$1" lifecycle --tree
	run "$1" futex
	run "$1" futex --json
	run "$1" offcpu
	run "$1" offcpu --json
	run "$1" export fsmb -o - --quiet
}

# compare PARTS: they say what is in `want`
compare()
{
	run_all "$1" >raw
	hide_files <raw >got
	nr=$((nr + $(grep -ac '^== ' got)))
	diff -a -u -F '^== ' want got >diff.out && return
	fail "$1: the whole says something else"
	head -n 40 diff.out
}

for file in *.stk; do
	time=$file.time cpu=$file.cpu
	"$split" time 3 "$file" "$time" && "$split" cpu 2 "$file" "$cpu" || exit 1
	run_all "$time.whole" >raw
	hide_files <raw >want
	compare "$time.0 $time.1 $time.2"
	compare "$cpu.0 $cpu.1"
done

# What the events are checked against is said where the recordings agree.
said()
{
	"$stackonce" info --json "$@" 2>messages | jq -c '[.events[].witness // empty] | unique'
}
[ "$(said selected.stk)" != '[]' ] || fail "info does not say what events are checked against"
nr=$((nr + 1))
[ "$(said selected.stk wakers.stk)" = '[]' ] ||
	fail "info: one witness for recordings that differ: $(said selected.stk wakers.stk)"

echo "$nr comparisons, $failed failed"
[ "$failed" -eq 0 ]
