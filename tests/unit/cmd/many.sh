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

run()
{
	if [ "$1 $2" = "info --json" ]; then
		"$stackonce" "$@" 2>messages </dev/null | jq -S "del(.files, .file, .bytes,
			.bytes_per_event, .meta.uuid, .meta.continues)"
		cat messages
	else
		"$stackonce" "$@" 2>&1 </dev/null
	fi
}

# compare WHOLE PARTS COMMAND...: what WHOLE gives is kept, as the next parts are of the same one
compare()
{
	whole=$1 parts=$2
	shift 2
	nr=$((nr + 1))
	want=$(echo "$*" | tr -c 'a-z\n' _).want
	if [ ! -e "$want" ]; then
		run "$@" "$whole" >whole.raw
		echo "exit $?" >>whole.raw
		hide_files <whole.raw >"$want"
	fi
	# shellcheck disable=SC2086 # the parts are words
	run "$@" $parts >parts.raw
	echo "exit $?" >>parts.raw
	hide_files <parts.raw >parts.out
	if ! diff -u "$want" parts.out >diff.out; then
		fail "stackonce $* $parts"
		head -30 diff.out
	fi
}

# compare_all WHOLE PARTS
compare_all()
{
	compare "$@" info -v
	compare "$@" info --json
	compare "$@" script
	compare "$@" script --json --stacks
	compare "$@" report
	compare "$@" report --by event,comm,cpu --json
	compare "$@" report --tree
	compare "$@" report --callees --json
	compare "$@" report --folded --by comm
	compare "$@" stacks
	compare "$@" stacks --json
	compare "$@" files
	compare "$@" files --json
	compare "$@" latency --preset runqueue
	compare "$@" latency --preset runqueue --json
	compare "$@" latency --preset syscalls
	compare "$@" latency --start sched_switch --end sched_switch --match prev_pid=next_pid
	compare "$@" lifecycle
	compare "$@" lifecycle --json --all
	compare "$@" lifecycle --tree
	compare "$@" futex
	compare "$@" futex --json
	compare "$@" offcpu
	compare "$@" offcpu --json
	compare "$@" export fsmb -o - --quiet
}

for file in *.stk; do
	rm -f ./*.want
	for how in 'time 3' 'cpu 2'; do
		# shellcheck disable=SC2086 # two words
		"$split" $how "$file" "$file.${how% *}" || exit 1
		part=$file.${how% *}
		case $how in
		*3) compare_all "$part.whole" "$part.0 $part.1 $part.2" ;;
		*) compare_all "$part.whole" "$part.0 $part.1" ;;
		esac
	done
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
