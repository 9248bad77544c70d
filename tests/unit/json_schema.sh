#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What every command prints with --json is what docs/json.md says.
#   json_schema.sh STACKONCE MAKE_RECORDING PYTHON USER_RECORDING PROGRAM
set -u
here=$(cd "$(dirname "$0")" && pwd)
stackonce=$(realpath "$1") make=$(realpath "$2") python=$3
make_user=$(realpath "$4") program=$(realpath "$5")
doc=$here/../../docs/json.md
golden=$here/../golden
# shellcheck source=tests/unit/cmd/lib.sh
. "$here/cmd/lib.sh"

record small empty abrupt hostile aliases losses flags strings user user-hostile guesses \
	latency lifecycle zombies wakers selected stalls addresses annotate before \
	after rebuilt quick slow profile
cp "$golden/rmap.stk" "$golden/waits.stk" "$golden/demo.stk" .

# A tracefs with one event.
mkdir -p tracefs/events/sched/sched_switch
touch tracefs/events/sched/sched_switch/enable
cat >tracefs/events/sched/sched_switch/format <<-END
	name: sched_switch
	ID: 316
	format:
		field:unsigned short common_type;	offset:0;	size:2;	signed:0;

		field:int prev_pid;	offset:8;	size:4;	signed:1;

	print fmt: "prev_pid=%d", REC->prev_pid
	END
STACKONCE_TRACEFS=$dir/tracefs
export STACKONCE_TRACEFS

nr=0
# run COMMAND ARGS...: its output is one of those to check
run()
{
	nr=$((nr + 1))
	"$stackonce" "$@" --json >"$nr.out" 2>"$nr.err" </dev/null
	code=$?
	if [ "$code" -gt 1 ]; then
		echo "stackonce $*: exit $code"
		cat "$nr.err"
		exit 1
	fi
	printf '%s\t%s.out\n' "$1" "$nr" >>runs
}

run info rmap.stk waits.stk
run script rmap.stk waits.stk
for f in *.stk; do
	run info "$f"
	run script "$f"
	run script --stacks --no-symbols "$f"
	run script --fields ts,comm,prev_pid,fields,ustack "$f"
	run report "$f"
	run report --by comm,pid,tid,cpu --no-symbols "$f"
	run report --tree --by event,cpu "$f"
	run report --callees "$f"
	run report --flat=line --by time,kstack,ustack,comm,host "$f"
	run report --flat=library --fold idle,interrupts,guesses --by sym,caller,file "$f"
	run report --by prev_comm,event --weigh prev_pid:hist --min 0 "$f"
	run report --by event,caller,call_site --weigh bytes_alloc "$f"
	run report --by mask,count,cache --weigh bytes_alloc:avg --tree "$f"
	run report --weigh ret:p50 --flat "$f"
	run stacks "$f"
	run files --verify "$f"
	run latency --start 'sched*' --end 'sched*' --match cpu --by event,comm --stacks "$f"
	run lifecycle --threads --stacks "$f"
	run lifecycle --tree --threads "$f"
	run lifecycle --pid 1-100000 "$f"
	for by in site address comm pid; do
		run futex --by $by "$f"
	done
	for by in stack state comm pid tid; do
		run offcpu --by $by --stacks "$f"
	done
done
for function in copy copy@kernel main tree::walk; do
	run annotate --children --user -i annotate.stk "$function"
	run annotate -i annotate.stk "$function"
done
# A program with source lines: file and memory have main() at the same distance.
command -v nm >/dev/null && command -v readelf >/dev/null || {
	echo "skipped: nm or readelf is missing"
	exit 77
}
# shellcheck disable=SC2046 # two words
set -- $(readelf -lW "$program" | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
main=$(nm "$program" | sed -n 's/^\([0-9a-f]*\) T main$/0x\1/p')
"$make_user" lines.stk "$program" none "$(printf %x $((main + 1 - $2 + $1)))" || exit 1
outer=$(nm "$program" | sed -n 's/^\([0-9a-f]*\) T outer$/0x\1/p')
at=$((outer - $2 + $1))
# shellcheck disable=SC2046 # one of these is of an inlined function
"$make_user" inlined.stk "$program" none $(printf '%x ' $(seq $at $((at + 30)))) || exit 1
run annotate lines.stk main
run annotate --children --inline inlined.stk outer
run futex --stacks waits.stk
run diff before.stk rebuilt.stk
run diff --latency begin,end quick.stk slow.stk
run diff --all --per event user.stk user.stk
run diff --all --by function --no-symbols before.stk rebuilt.stk
run diff --all --by self --user before.stk rebuilt.stk
run latency --preset syscalls latency.stk
run latency --preset rmap rmap.stk
run symbolize --sysroot /nonexistent -o symbolized.stk user.stk
run sql small.stk 'SELECT *, 1.5, 1e999, NULL, x'"'00ff'"' FROM "sched:sched_switch"'
run maps --pid $$
run list -v
run list --presets
run version
"$python" "$here/json_schema.py" "$doc" --runs runs || exit 1
echo "$nr runs"

# What is wrong is found.
# finds WHAT JSON: as a record of version
finds()
{
	echo "$2" | "$python" "$here/json_schema.py" "$doc" version >found && {
		echo "not found: $1"
		exit 1
	}
	grep -q "$1" found || {
		echo "$1: $(cat found)"
		exit 1
	}
}
finds "'more' is unknown" '{"type":"version","version":"1","more":1}'
finds "'version' is missing" '{"type":"version"}'
finds 'is no string' '{"type":"version","version":1}'
finds 'is no string' '{"type":"version","version":null}'
finds "no record" '{"version":"1"}'
finds "no record" '{"type":"other","version":"1"}'
finds "first member" '{"version":"1","type":"version"}'
