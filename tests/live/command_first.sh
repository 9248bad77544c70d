#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A command's events begin when its execve(2) cannot fail any more: what our fork of it does before is
# none of them.  A command that cannot be run is noticed before anything else, and leaves no file.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
need_tool jq

n=$(scale 200 50)
# a name of its own, and the only one that its events may have
cp "$PROG/getppid" mine

# first BACKEND ARGS...: record ARGS -- ./mine
first()
{
	what="$*"
	backend=$1
	shift
	rm -f first.stk
	# raw_syscalls has every system call; a tracepoint for each takes a slow machine long to load
	record --backend "$backend" --buffer-size 32M -o first.stk -e 'raw_syscalls:*' -e 'sched:*' \
		-e 'syscalls:sys_*_execve' -e syscalls:sys_enter_getppid "$@" -- ./mine "$n"
	want_sum first.stk
	"$STACKONCE" script --json --no-stacks first.stk >all.json
	pid=$(jq -r 'select(.event == "sched:sched_process_exec" and .comm == "mine") | .tid' all.json)
	[ -n "$pid" ] || fail "$what: no sched_process_exec of the command"
	# with -a an interrupt that hits our fork is recorded as one that hits the recorder is
	jq -r --argjson pid "$pid" --arg all "$*" '
		select(.tid == $pid and ($all == "" or .flags[2:3] == ".")) | "\(.event) \(.comm) \(.fields.id)"' \
		all.json >events
	others=$(awk '$2 != "mine"' events)
	[ -z "$others" ] || fail "$what: events of our fork: $(echo "$others" | head -n 5)"
	call=$(grep -m 1 '^syscalls:' events)
	[ "$call" = "syscalls:sys_exit_execve mine null" ] || fail "$what: the first system call is $call"
	call=$(grep -m 1 '^raw_syscalls:' events)
	[ "$call" = "raw_syscalls:sys_exit mine 59" ] || fail "$what: the first system call is $call"
	lost=$(counted first.stk syscalls:sys_enter_getppid lost)
	foreign=$lost # with -a other processes' calls are lost, too, and not only on the edge
	[ -n "$*" ] || foreign=$(edge_of first.stk syscalls:sys_enter_getppid)
	calls=$(grep -c '^syscalls:sys_enter_getppid' events)
	want_calls "$what" "$n" "$calls" "$lost" "$foreign"
}

# fails CODE WORDS ARGS...: record ARGS ends so and leaves nothing
fails()
{
	code=$1
	words=$2
	shift 2
	rc=0
	"$STACKONCE" record -q -o none.stk "$@" 2>err || rc=$?
	[ "$rc" -eq "$code" ] || fail "record $* ended with $rc, not $code: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || fail "record $*: $(cat err)"
	grep -qF "$words" err || fail "record $*: $(cat err)"
	[ "$(ls -A)" = "$before" ] || fail "record $* left $(ls -A)"
}

backends=bpf
[ ! -d "$tracefs/instances" ] || backends="bpf ftrace"
for b in $backends; do
	first "$b"
	first "$b" -a --no-user-stacks
done

printf '#!/nonexistent/interpreter\n' >no_interpreter
printf '\177ELF, or so\0' >no_program
cp mine busy
cp mine no_rights
chmod +x no_interpreter no_program
chmod -x no_rights
: >err
# as long as this is open for writing it cannot be executed
exec 9>>busy
before=$(ls -A)
# there is no such event, but that is not what is looked at first
fails 127 "cannot run 'nosuch'" -e nosuch:event -- nosuch
fails 127 "cannot run './nosuch'" -e nosuch:event -- ./nosuch
fails 126 "cannot run './no_rights'" -e nosuch:event -- ./no_rights
fails 126 "cannot run '/'" -e nosuch:event -- /
for b in $backends; do
	for all in '' '-a --no-user-stacks'; do
		# shellcheck disable=SC2086 # none is none
		{
			fails 127 "interpreter: No such file" --backend $b $all -e sched:sched_switch -- ./no_interpreter
			fails 126 "'./busy': Text file busy" --backend $b $all -e sched:sched_switch -- ./busy
			fails 126 "'./no_program': Exec format error" --backend $b $all -e sched:sched_switch -- ./no_program
		}
	done
done
exec 9>&-
note "$n calls, nothing before sys_exit_execve, by $backends"
