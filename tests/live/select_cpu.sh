#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# -C records exactly the events of some CPUs, with BPF and with ftrace, and samples them only.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tool taskset
call=syscalls:sys_enter_getppid
taskset 2 true 2>/dev/null || skip "there is no CPU 1"

# calls_in FILE: the calls of the program; a shell may call getppid() when it starts.
calls_in()
{
	"$STACKONCE" script --no-header --no-stacks --event $call --comm getppid "$1" | wc -l
}

cat >both <<-EOF
	taskset 1 $PROG/getppid 101
	taskset 2 $PROG/getppid 202
EOF
record --no-user-stacks -C 1 -F 199 --idle -o cpu.stk -e $call -- sh both
want_sum cpu.stk
[ "$(calls_in cpu.stk)" -eq 202 ] || fail "$(calls_in cpu.stk) of 202 calls on CPU 1 recorded"
out=$(info_of cpu.stk --arg e $call '.events[] | select(.name == $e) | .filtered_by.cpu')
[ "$out" -ge 101 ] || fail "only $out of 101 calls on CPU 0 were filtered"
others=$("$STACKONCE" script --json cpu.stk | jq -c 'select(.type == "event" and .cpu != 1)')
[ -z "$others" ] || fail "events of other CPUs were recorded: $others"
info_true cpu.stk '.meta."selected.cpus" == "1" and
	([.events[] | select(.kind == "sample") | .happened > 0, .filtered_by.cpu] == [true, 0])' ||
	fail "samples of other CPUs were taken, or info does not say what was selected"

nr=$(getconf _NPROCESSORS_CONF 2>/dev/null || nproc)
rc=0
"$STACKONCE" record -q -C "0-$nr" -d 1 2>err || rc=$?
{ [ "$rc" -eq 1 ] && grep -q "this machine has CPUs 0-$((nr - 1))" err; } ||
	fail "a CPU that does not exist: $rc, $(cat err)"

if [ -d "$tracefs/instances" ]; then
	record --backend ftrace --no-user-stacks -C 1 -o ftrace.stk -e $call -- sh both
	[ "$(calls_in ftrace.stk)" -eq 202 ] ||
		fail "ftrace: $(calls_in ftrace.stk) of 202 calls on CPU 1 recorded"
	rc=0
	"$STACKONCE" record -q --backend ftrace -u 0 -e $call -d 1 2>err || rc=$?
	{ [ "$rc" -eq 1 ] && grep -q -- '--uid needs BPF' err; } ||
		fail "--uid with ftrace: $rc, $(cat err)"
fi
note "202 calls on CPU 1 recorded, $out on others filtered"
