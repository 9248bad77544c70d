#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# check.sh STACKONCE: runs the commands on the capture in this directory. stack_map.txt is the
# kernel's text of stack_map_bin; trace.txt.gz is its `trace` file, cut; kallsyms.txt has the
# symbols around the map's addresses; stack_map_stat.txt has the kernel's counters.
set -eu
LC_ALL=C NO_COLOR=1 PAGER=
export LC_ALL NO_COLOR PAGER

so=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# same WHAT WANT GOT: compares two files, ignoring runs of blanks
same()
{
	tr -s ' \t' ' ' < "$2" > "$tmp/want"
	tr -s ' \t' ' ' < "$3" > "$tmp/got"
	if ! cmp -s "$tmp/want" "$tmp/got"; then
		fail "$1 differs"
		diff "$tmp/want" "$tmp/got" | head -n 20
	fi
}

# refused STATUS MESSAGE COMMAND...
refused()
{
	status=$1
	message=$2
	shift 2
	got=0
	"$@" > "$tmp/out" 2> "$tmp/err" || got=$?
	[ "$got" -eq "$status" ] || fail "'$*' ends with $got, not $status"
	grep -qF -- "$message" "$tmp/err" || {
		fail "'$*' does not say '$message':"
		cat "$tmp/err"
	}
	[ "$(wc -l < "$tmp/err")" -le 2 ] || fail "'$*' says more than it should"
}

gzip -dc "$here/trace.txt.gz" > "$tmp/trace"
cp "$here/stack_map_bin" "$tmp/map"
cd "$tmp"

"$so" import fsmb map --kallsyms "$here/kallsyms.txt" --trace trace -o map.stk 2> summary
cat > want-summary <<'EOF'
stackonce: warning: trace: skipped 1 line in which there is no event
81 stacks, 0 of them duplicates of another; 210 of 210 frames named; 1,847 events, 1,847 with a stack
EOF
same "the summary" want-summary summary

# Stacks, ids, depths, references and names: the kernel's own text, in its order.
"$so" stacks map.stk > stacks
same "stacks" "$here/stack_map.txt" stacks

refs=$(sed -n 's/^stack_id [0-9]* \[ref \([0-9]*\),.*/\1/p' stacks |
	awk '{ n += $1 } END { print n }')
grep -qx "successes: $refs" "$here/stack_map_stat.txt" || fail "$refs references in all"

# Events: header, fields and the stack id, line by line.
sed -n 's/^ *\(.*\)$/\1/; /\] [^ ]* *[0-9.]*: [a-z_]*: /p' trace > want-events
"$so" script map.stk | sed -n 's/^ *\(.*\)$/\1/; /\] [^ ]* *[0-9.]*: [a-z_:]*: /p' |
	sed 's/: imported:/: /' > events
same "the events" want-events events
sed -n 's/.*<stack_id \([0-9]*\)>.*/\1/p' trace > want-ids
"$so" script --json map.stk | sed -n 's/.*"kstack":\([0-9]*\).*/\1/p' > ids
same "the stack ids of the events" want-ids ids

# Back again, through files and pipes, with and without names and events.
"$so" export fsmb map.stk -o again 2> /dev/null
cmp map again || fail "exporting the import does not give the same bytes"
"$so" import fsmb - -q -o - < map | "$so" export fsmb - -q -o - > piped
cmp map piped || fail "the same through pipes"
"$so" import fsmb map -q -o bare.stk
"$so" stacks bare.stk | grep -c '^stack_id ' > count
[ "$(cat count)" -eq 81 ] || fail "without names: $(cat count) stacks"

for command in "info" "info --json" "report" "report --tree" "report --json" "script" \
	"script --json" "stacks --json" "stacks --top 3"; do
	# shellcheck disable=SC2086 # words
	"$so" $command map.stk > out || fail "$command on an import"
	[ -s out ] || fail "$command on an import prints nothing"
done

head -c 100 map > cut
refused 1 "cut: offset 8: no room for 81 stacks, the file ends after 100 bytes" \
	"$so" import fsmb cut -o no.stk
head -c 9799 map > cut
refused 1 "cut: offset " "$so" import fsmb cut -o no.stk
echo x >> map
refused 1 "map: offset 9800: 2 bytes after the last of 81 stacks" "$so" import fsmb map -o no.stk
refused 1 "trace: offset 0: not a stack map: magic" "$so" import fsmb trace -o no.stk
refused 1 "trace: line 1: not a kallsyms line" \
	"$so" import fsmb "$here/stack_map_bin" --kallsyms trace -o no.stk
refused 1 "missing" "$so" import fsmb missing -o no.stk
refused 2 "-o FILE" "$so" import fsmb cut
refused 2 ": 'perf'" "$so" import perf cut -o no.stk
refused 2 ": 'perf'" "$so" export perf map.stk -o no
refused 1 "not a stackonce recording" "$so" export fsmb cut -o no
[ ! -e no.stk ] && [ ! -e no ] || fail "a failed command left its output behind"
refused 1 "No space left on device" "$so" export fsmb map.stk -o /dev/full
refused 1 "No space left on device" "$so" import fsmb again -o /dev/full

# Version 1 of the map, in both byte orders; ftrace's own code; a stack that the text has in full.
zero='\0\0\0\0'
{
	printf "BMSF\1\0\0\0\1\0\0\0$zero"
	printf "\7\0\0\0\2\0\0\0\3\0\0\0$zero"
	printf "\20\0\0\201\377\377\377\377\377\377\377\177$zero"
} >v1
{
	printf "FSMB\0\0\0\1\0\0\0\1$zero"
	printf "\0\0\0\7\0\0\0\2\0\0\0\3$zero"
	printf "\377\377\377\377\201\0\0\20$zero\177\377\377\377"
} >v1be
cat >text <<'EOF'
          sh-65      [001] d....     1.000001: one: in the map
          sh-65      [001] d....     1.000001: <stack_id 7>
          sh-65      [001] d....     1.000002: one: in full
          sh-65      [001] d....     1.000002: <stack trace>
 => [FTRACE TRAMPOLINE]
 => somewhere+0x12/0x34
EOF
cat >want-v1 <<'EOF'
stack_id 7 [ref 3, depth 2]
 [0] 0xffffffff81000010
 [1] [FTRACE TRAMPOLINE]

stack_id 8 [ref 1, depth 2]
 [0] [FTRACE TRAMPOLINE]
 [1] somewhere+0x12/0x34

EOF
for map in v1 v1be; do
	"$so" import fsmb $map -q --trace text --force -o v1.stk || fail "import of $map"
	"$so" export fsmb v1.stk -q --force -o again
	cmp $map again || fail "exporting the import of $map does not give the same bytes"
	"$so" stacks v1.stk >stacks
	same "stacks of $map" want-v1 stacks
done

[ "$failed" -eq 0 ] && echo "the capture is the same after import and export"
exit "$failed"
