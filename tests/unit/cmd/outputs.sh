#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# No command overwrites its input, a recording, or a file that it was not asked to write.
#   outputs.sh STACKONCE MAKE_RECORDING FSMB_MAP
set -u
so=$(realpath "$1") make=$(realpath "$2") map=$(realpath "$3")
# shellcheck source=tests/unit/cmd/page.sh
. "$(dirname "$0")/page.sh"
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

"$make" small kept.stk && "$make" flags other.kept || exit 1
cp "$map" map.kept
: >kallsyms.kept
: >trace.kept

# fresh: the files as they were before any command
fresh()
{
	find . -maxdepth 1 -type f ! -name '*kept*' -delete
	for f in trace map kallsyms; do
		cp $f.kept $f
	done
	cp kept.stk trace.stk
	cp other.kept other.stk
	ln -sf trace.stk link.stk
	ln -f trace.stk hard.stk
}

# unchanged WHAT: every file is unchanged, and there are no further files
unchanged()
{
	cmp -s trace.stk kept.stk || fail "$1: trace.stk was changed"
	cmp -s other.stk other.kept || fail "$1: other.stk was changed"
	for f in trace map kallsyms; do
		cmp -s $f $f.kept || fail "$1: $f was changed"
	done
	[ -L link.stk ] || fail "$1: the link is gone"
	[ "$(find . -type f ! -name '*kept*' ! -name err | wc -l)" -eq 6 ] || fail "$1: left $(ls)"
}

# refused WORDS ARGS...: one line with these words, exit 1, nothing touched
refused()
{
	words=$1
	shift
	is_left_out "$@" && return
	fresh
	"$so" "$@" >/dev/null 2>err
	code=$?
	[ $code -eq 1 ] || fail "$*: exit $code"
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: $(wc -l <err) lines: $(cat err)"
	grep -qF -- "$words" err || fail "$*: $(cat err)"
	rm -f err
	unchanged "$*"
}

reads='is an input of this command'
is='is a recording: not replaced without --force'
pair='--start sched:sched_switch --end sched:sched_switch'

for to in trace.stk link.stk hard.stk ./trace.stk "$dir/trace.stk"; do
	for force in '' --force; do
		for command in report futex offcpu "latency $pair"; do
			refused "'$to' $reads" $command $force --flamegraph "$to" trace.stk
		done
		refused "'$to' $reads" export fsmb $force trace.stk -o "$to"
		refused "'$to' $reads" view $force trace.stk -o "$to"
		refused "'$to' $reads" symbolize $force -o "$to" trace.stk
	done
done
refused "'trace.stk' $reads" report --flamegraph trace.stk link.stk
refused "'trace.stk' $reads" report --flamegraph trace.stk
for to in map kallsyms trace; do
	refused "'$to' $reads" import fsmb map --kallsyms kallsyms --trace trace --force -o $to
done
for command in report futex offcpu "latency $pair"; do
	refused "'other.stk' $is" $command --flamegraph other.stk trace.stk
done
refused "'other.stk' $is" export fsmb trace.stk -o other.stk
refused "'other.stk' $is" view trace.stk -o other.stk
refused "'other.stk' $is" symbolize trace.stk -o other.stk
refused "'other.stk' $is" import fsmb map -o other.stk

# Standard input is an input, too; standard output is not truncated if it is that file.
fresh
"$so" report --flamegraph trace.stk - <trace.stk 2>err && fail "a picture replaces standard input"
rm -f err
unchanged "report -"
"$so" report --flamegraph - trace.stk >>trace.stk 2>err &&
	fail "a picture was appended to its recording"
rm -f err
unchanged "report >>"

# A selection is exported: its stacks, with its events as references, and nothing if it is wrong.
fresh
"$so" export fsmb trace.stk -o some --filter 'kstack ~ "*futex*"' --time +0,50% 2>err ||
	fail "export with a selection: $(cat err)"
grep -qx '1 stack; time 1234.567890 to 1235.017890' err || fail "its summary is: $(cat err)"
[ "$(od -A n -t u4 -j 16 -N 12 some | tr -s ' ')" = ' 2 5 1' ] ||
	fail "the map has not just stack 2, with one reference"
"$so" export fsmb -q trace.stk -o none --filter 'nosuch == 1' 2>err && fail "a wrong filter passes"
grep -q "unknown field 'nosuch'" err || fail "a wrong filter: $(cat err)"
[ ! -e none ] || fail "a wrong filter leaves a map behind"
"$so" export fsmb -q - -o none --time 10%, <trace.stk || fail "a percentage of standard input"
# shellcheck disable=SC2002 # a pipe
cat trace.stk | "$so" export fsmb -q - -o none.2 --time 10%, 2>err && fail "a percentage of a pipe"
grep -q 'a percentage needs a file' err || fail "a percentage of a pipe: $(cat err)"
rm -f some none err

# Output is replaced with --force, and where it is not a recording; the file keeps its mode.
fresh
echo text >out
chmod 640 out
for to in out other.stk; do
	"$so" report --force --flamegraph $to trace.stk || fail "--force --flamegraph $to"
	grep -q '<svg' $to || fail "$to is not a picture"
	"$so" export fsmb --force -q trace.stk -o $to || fail "export --force -o $to"
	"$so" import fsmb -q --force map -o $to || fail "import --force -o $to"
	"$so" info $to >/dev/null || fail "$to is not a recording after import"
	"$so" symbolize -q --force -o $to trace.stk || fail "symbolize --force -o $to"
	"$so" info $to >/dev/null || fail "$to is not a recording after symbolize"
done
[ "$(stat -c %a out)" = 640 ] || fail "the mode of a replaced file was changed"
"$so" report --flamegraph link.svg trace.stk || fail "a new picture"

# Pipes and descriptors are written in place.
mkfifo fifo
cat fifo >got &
"$so" report --flamegraph fifo trace.stk || fail "--flamegraph FIFO"
wait $!
cmp -s got link.svg || fail "the picture in a pipe differs"
[ -p fifo ] || fail "the pipe was replaced"
"$so" report --flamegraph /dev/fd/5 trace.stk 5>got || fail "--flamegraph /dev/fd/5"
cmp -s got link.svg || fail "the picture in a descriptor differs"
"$so" report --flamegraph /dev/stdout trace.stk >got || fail "--flamegraph /dev/stdout"
cmp -s got link.svg || fail "the picture in /dev/stdout differs"
"$so" export fsmb -q trace.stk -o /dev/null || fail "export -o /dev/null"
[ -c /dev/null ] || fail "/dev/null was replaced"

# A failure half way keeps the existing file.
fresh
echo text >out
(
	ulimit -f 8
	"$so" report --flamegraph out trace.stk
) >/dev/null 2>&1 && fail "a picture larger than the file size limit"
[ "$(cat out)" = text ] || fail "a failed picture replaced a file"
rm out
unchanged "a failed picture"
end
