#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The behaviour of the commands apart from their output: damaged and growing files, pipes, full
# disks, terminals, help.
#   behaviour.sh STACKONCE MAKE_RECORDING COMPLETION
set -u
so=$(realpath "$1") make=$(realpath "$2") completion=$(realpath "$3")
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

# subsequence A B: every line of A is in B, in the same order
subsequence()
{
	[ -s "$1" ] || return 0
	awk 'NR == FNR { want[++n] = $0; next } at < n && $0 == want[at + 1] { at++ }
		END { exit at < n }' "$1" "$2"
}

record small flags
"$make" large large.stk 200000 500 || exit 1
size=$(stat -c %s small.stk)
"$so" script --no-header --no-stacks small.stk >full

# A truncated copy is read up to its end, with a message.
cut=0 some=0
while [ $cut -lt "$size" ]; do
	head -c $cut small.stk >cut.stk
	"$so" script --no-header --no-stacks cut.stk >out 2>err
	code=$?
	[ $code -le 1 ] || fail "script of $cut bytes: exit $code"
	[ -s err ] || fail "script of $cut bytes prints no message"
	subsequence out full || fail "script of $cut bytes prints lines not in the whole recording"
	[ -s out ] && some=$((some + 1))
	cut=$((cut + 23))
done
[ $some -gt 3 ] || fail "only $some truncated files have an event"

# A changed byte costs at most the block that it is in: no crash, and never an event that was not
# recorded.
at=0 noticed=0
while [ $at -lt "$size" ]; do
	cp small.stk bad.stk
	byte=$(od -An -tu1 -j $at -N 1 small.stk)
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %o $((byte ^ 0x41)))" |
		dd of=bad.stk bs=1 seek=$at conv=notrunc 2>/dev/null
	for command in "script --no-header --no-stacks" "report --tree" "stacks --json" \
		"info --json"; do
		# shellcheck disable=SC2086 # words
		"$so" $command bad.stk >out 2>err
		code=$?
		[ $code -le 1 ] || fail "$command, byte $at changed: exit $code"
		[ "$command" = "info --json" ] || continue
		[ $code -eq 1 ] && noticed=$((noticed + 1))
	done
	at=$((at + 41))
done
[ $noticed -gt $((size / 41 / 2)) ] || fail "only $noticed changed bytes were noticed"

# The same for a recording with user stacks, in each command that prints them.
"$make" user user.stk || exit 1
size=$(stat -c %s user.stk) at=0
while [ $at -lt "$size" ]; do
	cp user.stk bad.stk
	byte=$(od -An -tu1 -j $at -N 1 user.stk)
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %o $((byte ^ 0x41)))" |
		dd of=bad.stk bs=1 seek=$at conv=notrunc 2>/dev/null
	for command in "script --ids" "report --tree" "stacks --json --user" "files --json"; do
		# shellcheck disable=SC2086 # words
		"$so" $command bad.stk >out 2>err
		code=$?
		[ $code -le 1 ] || fail "$command of user stacks, byte $at changed: exit $code"
	done
	at=$((at + 23))
done
size=$(stat -c %s small.stk)

# A command ends silently when its reader exits, but not when its output cannot be written.
"$so" script large.stk 2>err | head -n 1 >out
[ -s out ] && [ ! -s err ] || fail "a closed pipe causes messages: $(cat err)"
for command in "script large.stk" "report small.stk" "info --json small.stk" "stacks small.stk" \
	"version" "script --help" "help"; do
	# shellcheck disable=SC2086 # words
	"$so" $command >/dev/full 2>err && fail "$command on a full disk succeeds"
	grep -q '^stackonce: .*No space left' err ||
		fail "$command: no message about the full disk: $(cat err)"
	# shellcheck disable=SC2086 # words
	"$so" $command >&- 2>/dev/null && fail "$command with closed output succeeds"
	# shellcheck disable=SC2086 # words
	{ "$so" $command 2>err; echo $? >code; } | true
	[ ! -s err ] || fail "$command into a closed pipe: $(cat err)"
done

# Standard input gives the same output as a file.
for command in script report stacks info "info --json" "script --json" "report --tree"; do
	# shellcheck disable=SC2086 # words
	"$so" $command small.stk | sed 's/small\.stk/-/; s/^File .*/File/' >want
	# shellcheck disable=SC2086 # words
	cat small.stk | "$so" $command - 2>err | sed 's/^File .*/File/' >got
	same "$command from a pipe" want got
	[ ! -s err ] || fail "$command from a pipe prints: $(cat err)"
done

# --follow: reads a file that grows piece by piece, each event once, up to its end.
"$so" script --json flags.stk >want
"$so" stacks small.stk >want-stacks
for kind in script stacks info; do
	file=flags.stk
	[ $kind = script ] || file=small.stk
	size=$(stat -c %s $file)
	head -c $((size / 2)) $file >grow.stk
	case $kind in
	script) set -- script --json ;;
	stacks) set -- stacks ;;
	info) set -- info --json ;;
	esac
	"$so" "$@" --follow grow.stk >got 2>err &
	pid=$!
	becomes catches $pid 15 || fail "$kind --follow does not catch SIGTERM"
	[ $kind != info ] || becomes test -s got || fail "info --follow prints nothing at first"
	sleep 0.5
	kill -0 $pid 2>/dev/null || fail "$kind --follow does not wait: $(cat err)"
	tail -c +$((size / 2 + 1)) $file >>grow.stk
	wait $pid || fail "$kind --follow: exit $?: $(cat err)"
	case $kind in
	script) same "script --follow" want got ;;
	stacks) [ "$(grep -c ^stack_id got)" = "$(grep -c ^stack_id want-stacks)" ] ||
		fail "stacks --follow" ;;
	info) [ "$(jq -r .ended got | uniq | paste -sd' ')" = 'recording clean' ] ||
		fail "info --follow: $(cat got)" ;;
	esac
done

# Stacks of selected events, of which the reader knows the stacks before it hands out the events.
"$so" stacks -e sched_switch small.stk | grep -o '^stack_id [0-9]*' | sort >want
size=$(stat -c %s small.stk)
head -c $((size * 3 / 4)) small.stk >grow.stk
"$so" stacks --follow -e sched_switch grow.stk >got 2>err &
pid=$!
becomes catches $pid 15 || fail "stacks --follow does not catch SIGTERM"
sleep 0.5
tail -c +$((size * 3 / 4 + 1)) small.stk >>grow.stk
wait $pid || fail "stacks --follow of selected events: exit $?: $(cat err)"
grep -o '^stack_id [0-9]*' got | sort >got-ids
[ -s want ] || fail "no stacks of selected events"
same "stacks --follow of selected events" want got-ids

# Ctrl-C ends following with success.
head -c $((size / 2)) small.stk >grow.stk
"$so" script --follow grow.stk >got 2>err &
pid=$!
becomes catches $pid 15 || fail "script --follow does not catch SIGTERM"
kill -TERM $pid
wait $pid || fail "interrupted --follow: exit $?"

# Colour and pager on a terminal, and only there.
escape=$(printf '\033')
"$so" script small.stk | grep -q "$escape" && fail "colour on a pipe"
tty_run()
{
	script -qec "$*" /dev/null </dev/null | tr -d '\r'
}
if command -v script >/dev/null; then
	STACKONCE_PAGER='' tty_run "$so script small.stk" | grep -q "$escape" ||
		fail "no colour on a terminal"
	NO_COLOR=1 STACKONCE_PAGER='' tty_run "$so script small.stk" | grep -q "$escape" &&
		fail "colour in spite of NO_COLOR"
	STACKONCE_PAGER="sed s/^/PAGED:/" tty_run "$so stacks small.stk" | grep -q '^PAGED:' ||
		fail "no pager on a terminal"
	PAGER="sed s/^/PAGED:/" tty_run "$so stacks small.stk" | grep -q '^PAGED:' ||
		fail "PAGER is not used"
	STACKONCE_PAGER=cat PAGER="sed s/^/PAGED:/" tty_run "$so stacks small.stk" |
		grep -q PAGED && fail "STACKONCE_PAGER has no precedence"
	STACKONCE_PAGER="head -n 1" tty_run "$so script --no-header large.stk; echo code \$?" |
		grep -q '^code 0' || fail "a pager that exits early is not a success"
	# Ctrl-C ends the reading, here of a pipe into which nobody writes any more, and queries
	mkfifo endless
	count="WITH n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
	for command in "script endless" "report endless" "sql small.stk '$count'"; do
		{
			head -c 20000 large.stk
			exec sleep 60
		} >endless &
		STACKONCE_PAGER="cat -" tty_run "timeout --foreground -k 10 -s INT 1 $so $command;
			echo code \$?" >got
		kill $!
		grep -q '^code 124' got || fail "Ctrl-C does not end $command: $(tail -n 3 got)"
	done
else
	left_out "colour and pager: script(1) is missing"
fi

# Help: all commands are listed and fit a screen.
"$so" help >help
for command in $("$so" help --options | cut -f 1 | uniq); do
	grep -q "^  $command " help || fail "help does not list $command"
	"$so" $command --help >out || fail "$command --help: exit $?"
	"$so" help $command >again
	same "help $command" out again
	[ "$(wc -l <out)" -le 40 ] || fail "$command --help has $(wc -l <out) lines"
	awk 'length($0) > 80 { exit 1 }' out || fail "$command --help is wider than 80 columns"
	# The word after an option is completed as its value if it has one, else as any other word.
	sed -nE 's/^ +(-., )?(--[a-z-]+)( [A-Z])?.*/\2\3/p' out >options
	bash -c '. "$1"
		offered() { # WORD...: whether the completion offers $option for the last one
			COMP_WORDS=("stackonce" "$@") COMP_CWORD=$# COMP_LINE="stackonce $*"
			COMP_POINT=${#COMP_LINE}
			_stackonce 2>&1
			[[ " ${COMPREPLY[*]} " == *" $option "* ]]
		}
		while read -r option value; do
			offered "$2" -- || echo "does not know $2 $option"
			if [[ $value ]]; then
				! offered "$2" "$option" - ||
					echo "does not know that $option of $2 has a value"
			else
				offered "$2" "$option" - ||
					echo "thinks that $option of $2 has a value"
			fi
		done <options' complete "$completion" $command >bad
	[ ! -s bad ] || fail "the completion $(cat bad)"
done
"$so" >out 2>err && fail "running without a command is a success"
"$so" nosuch >out 2>err
[ $? -eq 2 ] || fail "an unknown command is not a usage error"

# list, on a directory tree like tracefs.
mkdir -p fs/events/sched/sched_switch fs/events/irq/softirq_raise fs/events/ftrace/function
printf 'name: sched_switch\nID: 7\nformat:\n%s\n%s\n\nprint fmt: "%%d", REC->prev_pid\n' \
	'	field:unsigned short common_type;	offset:0;	size:2;	signed:0;' \
	'	field:pid_t prev_pid;	offset:8;	size:4;	signed:1;' \
	>fs/events/sched/sched_switch/format
for e in sched/sched_switch irq/softirq_raise; do : >fs/events/$e/enable; done
STACKONCE_TRACEFS=$dir/fs
export STACKONCE_TRACEFS
printf '%s\n' irq:softirq_raise sched:sched_switch 'rmap:rmap_walk_start (emulated)' \
	'rmap:rmap_walk_end (emulated)' >want
"$so" list >got
same "list" want got
printf 'sched:sched_switch\n    pid_t prev_pid\n' >want
"$so" list -v 'sched:*' >got
same "list -v" want got
"$so" list --json -v sched_switch |
	jq -e '.system == "sched" and .id == 7 and .fields == [{"name": "prev_pid", "type": "pid_t",
		"offset": 8, "size": 4, "signed": true}]' >/dev/null || fail "list --json -v"
"$so" list 'nosuch*' >out 2>err
[ $? -eq 1 ] || fail "list without a match is not a failure"
STACKONCE_TRACEFS=$dir/nosuch "$so" list >out 2>err
{ [ $? -eq 1 ] && grep -q 'mount -t tracefs' err; } || fail "list without tracefs: $(cat err)"

# list --presets: the options that a pair stands for, and which presets need -a, and why.
"$so" list --presets timer >got 2>err
want="--start 'timer:\*timer_expire_entry' .* --match 'cpu,hrtimer|timer' --by function"
grep -q "^ *$want\$" got ||
	fail "list --presets has no options of latency: $(cat got)"
grep -q '^ *needs record -a: interrupts' got || fail "list --presets does not say what needs -a"
"$so" list --presets futex 2>err | grep -qE 'needs|--start' && fail "futex needs -a or is a pair"
"$so" list --presets --json softirq 2>err |
	jq -e '.start == "irq:softirq_entry" and .end == "irq:softirq_exit" and
		.match == "cpu,vec" and .by == "vec" and .start_if == null and (.single | not) and
		(.needs_all | test("interrupts"))' >/dev/null || fail "list --presets --json"

# record says that the answer will be incomplete; nothing is recorded without the command.
"$so" record --preset futex,irq -o none.stk -- "$dir/nosuch" 2>err
grep -q "^stackonce: warning: preset 'irq' needs -a: .*, but a COMMAND limits " err ||
	fail "record does not say that a preset needs -a: $(cat err)"
grep -q "'futex'" err && fail "futex needs no -a: $(cat err)"
"$so" record -q --preset irq -o none.stk -- "$dir/nosuch" 2>&1 | grep -q 'needs -a' &&
	fail "record -q warns"
"$so" record -a --preset irq -o none.stk -- "$dir/nosuch" 2>&1 | grep -q 'needs -a' &&
	fail "record -a warns that it needs -a"

finish
