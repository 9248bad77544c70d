#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What people type without thinking: a recording piped into a command, a pager that is not there, a
# bare word for `list`, the tab key.
#   habits.sh STACKONCE MAKE_RECORDING COMPLETION
set -u
so=$(realpath "$1") make=$(realpath "$2") completion=$(realpath "$3")
# shellcheck source=tests/process.sh
. "$(dirname "$0")/../../process.sh"
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

# leads_session PID: whether it has called setsid(2)
leads_session()
{
	[ "$(cut -d ' ' -f 6 "/proc/$1/stat")" -eq "$1" ]
}

record small flags
"$so" script --no-header --no-stacks small.stk >full

# Without FILE, a recording on standard input is read; anything else there is left alone.
mkdir in && cp flags.stk in/trace.stk && cd in || exit 1
for command in script report stacks "latency --preset runqueue" "export fsmb -q -o -"; do
	# shellcheck disable=SC2086 # words
	"$so" $command ../small.stk >../want 2>/dev/null
	# shellcheck disable=SC2086,SC2002 # words, a pipe
	cat ../small.stk | "$so" $command >../got 2>../err
	same "$command: a pipe as standard input" ../want ../got
	# shellcheck disable=SC2086 # words
	"$so" $command <../small.stk >../got 2>../err
	same "$command: a file as standard input" ../want ../got
	[ ! -s ../err ] || fail "$command: standard input causes a message: $(cat ../err)"
done
"$so" script --json >../want </dev/null 2>../err
[ ! -s ../err ] || fail "/dev/null as standard input causes a message: $(cat ../err)"
"$so" script --json <../full >../got
same "a file that is no recording as standard input" ../want ../got
"$so" script --json >../got <&-
same "closed standard input" ../want ../got
: | "$so" script --json >../got 2>../err
same "an empty pipe as standard input" ../want ../got
grep -q "^stackonce: warning: standard input is an empty pipe: reading 'trace.stk'$" ../err ||
	fail "no warning about an empty pipe: $(cat ../err)"
seq 3 | { "$so" script --json >../got 2>../err; cat >../rest; }
same "a pipe with something else" ../want ../got
grep -q 'a pipe without a recording' ../err || fail "no warning about that: $(cat ../err)"
[ "$(cat ../rest)" = "$(seq 3)" ] || fail "a command takes data from its standard input"
printf '\211STK' | "$so" script --json >../got 2>../err
same "a pipe with the beginning of a recording" ../want ../got
# A silent pipe whose other end is a program that started this one, or of another session.
mkfifo ../fifo
exec 3<>../fifo
"$so" script --json <../fifo >../got 2>../err
same "a silent pipe" ../want ../got
grep -q 'nothing arrives' ../err || fail "no warning about a silent pipe: $(cat ../err)"
setsid sleep 60 >../fifo 3>&- &
writer=$!
becomes leads_session $writer || fail "the writer has no session of its own"
exec 3<&-
timeout 30 "$so" script --json <../fifo >../got 2>../err
same "a silent pipe of another session" ../want ../got
end_child TERM $writer
# A pipeline may be slow.
"$so" stacks ../small.stk >../want-stacks
: >../err
{ becomes test -s ../err; cat ../small.stk; } | "$so" stacks >../got 2>../err
same "a slow pipeline" ../want-stacks ../got
grep -q "waiting for a recording on standard input$" ../err ||
	fail "no message while waiting: $(cat ../err)"
sleep 2 | "$so" script --json >../got 2>../err
same "a pipeline without output" ../want ../got
# The recording may come in small pieces, and late where there is no trace.stk.
# It has a second for the magic: no program is started meanwhile.
mkfifo ../silent
{
	bash -c 'printf "\211ST"; read -r -t 0.1 <>../silent; printf "K\r\n\032\n"'
	tail -c +9 ../small.stk
} | "$so" stacks >../got 2>../err
"$so" stacks ../small.stk >../want
same "a recording in pieces" ../want ../got
rm trace.stk
setsid sh -c 'sleep 2; cat ../small.stk' >../fifo &
"$so" stacks <../fifo >../got 2>../err
same "a late recording where there is no trace.stk" ../want ../got
seq 3 | "$so" stacks >../got 2>../err && fail "no recording anywhere is a success"
grep -q "'trace.stk'" ../err || fail "no message about the missing file: $(cat ../err)"
cd .. || exit 1

# What refers to the recording is found in a pipe, too, but for its end.
"$so" script --time +0.5,+0.7 small.stk >want
# shellcheck disable=SC2002 # a pipe
cat small.stk | "$so" script --time +0.5,+0.7 >got 2>err
same "a time since the start of a pipe" want got
# shellcheck disable=SC2002
cat small.stk | "$so" script --time 10%,20% >got 2>err && fail "the end of a pipe is known"
grep -q 'a percentage needs a file' err || fail "no message about the end of a pipe: $(cat err)"
"$so" script --time 10%,60% small.stk >want
"$so" script --time 10%,60% - <small.stk >got 2>err
same "a percentage of standard input that is a file" want got
# shellcheck disable=SC2002
cat small.stk | "$so" script --filter 'ustack ~ "*x*"' >got 2>err
grep -q 'tests names of user stacks' err || fail "no warning about names in a pipe: $(cat err)"
"$so" script --filter 'ustack ~ "*x*"' small.stk >got 2>err
grep -q 'tests names of user stacks' err && fail "a warning about names in a file"

# Debug files from servers: there must be one.
for urls in "" " "; do
	DEBUGINFOD_URLS=$urls "$so" stacks --debuginfod small.stk 2>err >out
	grep -q -- '--debuginfod: no server is set, DEBUGINFOD_URLS' err ||
		fail "no warning about the missing server: $(cat err)"
done
DEBUGINFOD_URLS=http://127.0.0.1:1 "$so" stacks --debuginfod small.stk 2>err >out
grep -q 'no server is set' err && fail "a server is set, but: $(cat err)"

# Without a usable pager, the output comes all the same.
tty_run()
{
	script -qec "$*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	"$so" stacks small.stk >want
	for pager in nosuch-pager "nosuch-pager -R" ./small.stk; do
		PAGER=$pager TERM=dumb tty_run "$so stacks small.stk" >got
		same "TERM=dumb has a pager: $pager" want got
		PAGER=$pager NO_COLOR=1 tty_run "$so stacks small.stk" >got
		tail -n "$(wc -l <want)" got | diff want - >/dev/null ||
			fail "the output is lost with PAGER=$pager: $(head -n 3 got)"
	done
	PAGER="sed s/^/PAGED:/" TERM=dumb tty_run "$so stacks small.stk" | grep -q PAGED &&
		fail "TERM=dumb has a pager"
	PAGER="sed 1q; exit 1" tty_run "$so stacks small.stk" >got
	[ "$(wc -l <got)" -eq 1 ] || fail "a pager that fails is replaced"
else
	left_out "pagers: script(1) is missing"
fi

# refused STATUS MESSAGE ARGUMENT...: the command fails and says so, in one line or two
refused()
{
	status=$1 message=$2
	shift 2
	"$so" "$@" >out 2>err </dev/null
	code=$?
	[ $code -eq "$status" ] || fail "'$*' ends with $code"
	head -n 1 err | grep -qxF -- "stackonce: $message" ||
		fail "'$*' says '$(head -n 1 err)', not '$message'"
	[ "$(wc -l <err)" -le 2 ] || fail "'$*' says more: $(cat err)"
}
refused 2 "there is no command 'recrod'; did you mean record?" recrod
refused 2 "there is no command 'small.stk'; 'stackonce report small.stk' reads a file" small.stk
refused 2 "there is no command 'nosuch'" nosuch
refused 2 "help: there is no command 'scirpt'; did you mean script?" help scirpt
refused 2 "report: unknown option '--flamegrpah'; did you mean --flamegraph?" report --flamegrpah x
refused 2 "report: unknown option '--tre'; did you mean --tree?" report --tre
refused 2 "report: unknown option '--nosuch'" report --nosuch
refused 1 "there is no 'trace.stk' here: give FILE, or record one with 'stackonce record'" report
refused 1 "open 'nosuch.stk': No such file or directory" report nosuch.stk
refused 1 "'full': not a stackonce recording" report full
order='FORMAT [OPTIONS] [FILE...] -o OUTPUT'
formats=$("$so" export --help | sed -n 's/^  \([a-z0-9.]*\): .*/\1/p' | paste -sd , |
	sed 's/,/, /g; s/\(.*\),/\1 or/')
refused 2 "export: FORMAT expects $formats: 'small.stk'; the order is: $order" \
	export small.stk -o map
refused 2 "record: nothing follows '--'" record -a --
refused 127 "cannot run 'sched:x' (-e records an event): No such file or directory" record sched:x
refused 127 "cannot run 'nosuch': No such file or directory" record nosuch
refused 2 "record: --freq expects a number from 1 to 100000: '0'" record -F 0
refused 2 "record: --pid expects process ids from 1 to 4194303: '0'" record -p 0
see="see 'stackonce list --presets'"
refused 2 "latency: --preset, or both --start and --end are required; $see" latency --start x

refused 2 "latency: there is no preset 'runqeue'; did you mean runqueue?" latency --preset runqeue
refused 2 "record: there is no preset 'x', see 'stackonce list --presets'" record --preset x

# completes LINE WORD...: what is offered for the last word of LINE
completes()
{
	STACKONCE_TRACEFS=$dir/fake bash -c '. "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		shift 2
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_stackonce 2>&1
		echo "${COMPREPLY[*]}"' complete "$completion" "$@"
}
# offers WANT LINE WORD...
offers()
{
	want=$1
	shift
	got=$(completes "$@")
	case " $got " in
	*" $want "*) ;;
	*) fail "the completion of '$1' offers '$got', not '$want'" ;;
	esac
}
mkdir fake && printf '%s\n' irq:softirq_raise sched:sched_switch sched:sched_wakeup \
	>fake/available_events
offers sched_switch 'stackonce record -e sched:sched_s' stackonce record -e sched : sched_s
offers sched_switch 'stackonce record -e sched_s' stackonce record -e sched_s
offers softirq_raise 'stackonce record -e softirq' stackonce record -e softirq
offers sched_switch,irq:softirq_raise 'stackonce record -e sched:sched_switch,i' \
	stackonce record -e sched : sched_switch,i
offers softirq_raise 'stackonce record -e sched:sched_switch,irq:s' \
	stackonce record -e sched : sched_switch,irq : s
offers sched_switch,sched_wakeup 'stackonce record -e sched_switch,sched_w' \
	stackonce record -e sched_switch,sched_w
for option in --start --end --event; do
	offers sched_switch "stackonce latency $option sched_s" stackonce latency $option sched_s
done
offers sched_switch "stackonce script --event sched_s" stackonce script --event sched_s
offers bash 'stackonce record bas' stackonce record bas
offers bash 'stackonce record -e sched:sched_switch -a bas' \
	stackonce record -e sched : sched_switch -a bas
offers bash 'stackonce record -e sched:sched_switch -- bas' \
	stackonce record -e sched : sched_switch -- bas
offers small.stk 'stackonce record cat smal' stackonce record cat smal
offers small.stk 'stackonce script smal' stackonce script smal
offers small.stk 'stackonce diff smal' stackonce diff smal
offers small.stk 'stackonce diff other.stk smal' stackonce diff other.stk smal
offers runqueue 'stackonce diff --latency runq' stackonce diff --latency runq

# A bare word for list is an event, or else a system, or else a part of names.
for e in sched/sched_switch sched/sched_waking irq/softirq_raise; do
	mkdir -p fs/events/$e && : >fs/events/$e/enable
done
STACKONCE_TRACEFS=$dir/fs
export STACKONCE_TRACEFS
printf 'sched:sched_%s\n' switch waking >want
"$so" list sched >got
same "list SYSTEM" want got
echo sched:sched_switch >want
"$so" list sched_switch >got
same "list NAME" want got
"$so" list swit >got
same "list PART" want got
printf '%s\n' irq:softirq_raise sched:sched_switch >want
"$so" list swit,irq >got
same "list PART,SYSTEM" want got
"$so" list irq,shed >got 2>err && fail "list with a word that matches nothing succeeds"
echo irq:softirq_raise >want
same "list SYSTEM,NOTHING" want got
grep -q "^stackonce: no event matches 'shed'; did you mean sched?$" err ||
	fail "list suggests nothing: $(cat err)"
"$so" list 'swit*' >out 2>err && fail "a glob matches a part of a name"

# perf's -g: stacks need no option, which is said once.
"$so" record -ag --call-graph dwarf,16384 /no/such/command 2>err
grep -c -- '-g and --call-graph have no effect' err | grep -qx 1 || fail "-g: $(cat err)"
"$so" record -qg /no/such/command 2>err
grep -q -- 'no effect' err && fail "-qg: $(cat err)"

finish
