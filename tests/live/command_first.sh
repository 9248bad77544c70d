#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A command's events begin when its execve(2) cannot fail any more: what the recorder's child does
# before that is not recorded.  A command that cannot be run is refused before anything else, and
# leaves no file.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
need_tool jq

n=$(scale 200 50)
# a unique name, the only one that the events may have
cp "$PROG/getppid" mine

# first BACKEND ARGS...: record ARGS -- ./mine
first()
{
	what="$*"
	backend=$1
	shift
	rm -f first.stk
	# raw_syscalls covers every system call; a slow machine takes long to load a tracepoint each
	record --backend "$backend" --buffer-size 32M -o first.stk -e 'raw_syscalls:*' \
		-e 'sched:*' -e 'syscalls:sys_*_execve' -e syscalls:sys_enter_getppid "$@" -- \
		./mine "$n"
	want_sum first.stk
	"$STACKONCE" script --json --no-stacks first.stk >all.json
	pid=$(jq -r 'select(.event == "sched:sched_process_exec" and .comm == "mine") | .tid' \
		all.json)
	[ -n "$pid" ] || fail "$what: the command has no sched_process_exec"
	# Not those of interrupts: one may hit the command while it is renamed, when it has begun
	# under the old name, and with -a the recorder's child, as it may hit the recorder.
	jq -r --argjson pid "$pid" 'select(.tid == $pid and .flags[2:3] == ".") |
			"\(.event) \(.comm) \(.fields.id)"' \
		all.json >events
	others=$(awk '$2 != "mine"' events)
	[ -z "$others" ] ||
		fail "$what: events of the recorder's child: $(echo "$others" | head -n 5)"
	call=$(grep -m 1 '^syscalls:' events)
	[ "$call" = "syscalls:sys_exit_execve mine null" ] ||
		fail "$what: the first system call is $call"
	call=$(grep -m 1 '^raw_syscalls:' events)
	[ "$call" = "raw_syscalls:sys_exit mine 59" ] ||
		fail "$what: the first system call is $call"
	lost=$(counted first.stk syscalls:sys_enter_getppid lost)
	foreign=$lost # with -a calls of other processes are lost, too, not only on the edge
	[ -n "$*" ] || foreign=$(edge_of first.stk syscalls:sys_enter_getppid)
	calls=$(grep -c '^syscalls:sys_enter_getppid' events)
	want_calls "$what" "$n" "$calls" "$lost" "$foreign"
}

# fails CODE WORDS ARGS...: record ARGS exits with CODE, prints one line, which contains WORDS, and
# leaves no file
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
# a file that is open for writing cannot be executed
exec 9>>busy
before=$(ls -A)
# the event does not exist either, but the command is checked first
fails 127 "cannot run 'nosuch'" -e nosuch:event -- nosuch
fails 127 "cannot run './nosuch'" -e nosuch:event -- ./nosuch
fails 126 "cannot run './no_rights'" -e nosuch:event -- ./no_rights
fails 126 "cannot run '/'" -e nosuch:event -- /
for b in $backends; do
	for all in '' '-a --no-user-stacks'; do
		# shellcheck disable=SC2086 # options or nothing
		{
			fails 127 "interpreter: No such file" --backend $b $all \
				-e sched:sched_switch -- ./no_interpreter
			fails 126 "'./busy': Text file busy" --backend $b $all \
				-e sched:sched_switch -- ./busy
			fails 126 "'./no_program': Exec format error" --backend $b $all \
				-e sched:sched_switch -- ./no_program
		}
	done
done
exec 9>&-
note "$n calls, nothing before sys_exit_execve, recorded by $backends"
