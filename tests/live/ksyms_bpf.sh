#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# BPF programs are loaded and unloaded during a recording: each stack names the program that was at
# the address at that time, also where another one was before or comes later, and all of them are of
# the module "bpf".
# alone: it sets kernel.kptr_restrict
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
need_tracefs
[ -d "$tracefs/events/bpf_trace/bpf_trace_printk" ] ||
	skip "this kernel has no tracepoint bpf_trace_printk"
[ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 0 ] || skip "BPF programs are interpreted"

# A program that is in kallsyms already, with room behind it.
mkfifo stay go
"$PROG/bpfswap" 1 <stay >/dev/null &
test_pids="$test_pids $!"
exec 7>stay
until_true 10 grep -q '_swap00[[:space:]]' /proc/kallsyms ||
	fail "the BPF program is not in kallsyms"
setting=/proc/sys/kernel/kptr_restrict
before=$(cat $setting)
restore()
{
	echo "$before" >$setting
}

# written NUMBER: the file has NUMBER events with their stacks and names.
written()
{
	[ "$("$STACKONCE" script --json swap.stk 2>/dev/null | grep -c '"bpf_string"')" -eq "$1" ]
}

# record_swap PROGRAMS: records this number of programs; each stays until its event is in the file.
record_swap()
{
	rm -f swap.stk
	"$STACKONCE" record -q -o swap.stk -e bpf_trace:bpf_trace_printk -- "$PROG/bpfswap" "$1" \
		<go >record.out 2>record_bg.err 7>&- &
	recorder=$!
	test_pids="$test_pids $recorder"
	exec 8>go
	for i in $(seq 1 "$1"); do
		until_true 10 written "$i" || {
			cat record_bg.err
			fail "event $i is not in the file"
		}
		echo >&8
	done
	wait_recorder
	exec 8>&-
}

over=0
for restrict in "$before" 2; do
	echo "$restrict" >$setting || skip "kptr_restrict cannot be set"
	record_swap 9
	over=$((over + $(sed -n 's/^over //p' record.out)))
	"$STACKONCE" script --json swap.stk | jq -c '[.kstack, .fields.bpf_string]' >events
	"$STACKONCE" stacks --json swap.stk |
		jq -c '{id, bpf: [.frames[] | select(.sym // "?" | test("swap|^[?]$"))]}' >named
	[ "$(wc -l <events)" -eq 9 ] || fail "$(wc -l <events) events instead of 9"
	jq -n -r --slurpfile s named --slurpfile e events '$e[] | . as $e |
		([$s[] | select(.id == $e[0]) | .bpf[]]) as $f |
		select(($f | length) != 1 or $f[0].mod != "bpf" or
			($f[0].sym | endswith("_" + $e[1]) | not)) |
		"\($e[1]) has \($f)"' >wrong
	[ ! -s wrong ] || {
		cat wrong
		fail "stacks name the wrong programs with kptr_restrict=$restrict"
	}
done
[ "$over" -gt 0 ] || fail "no program was at the address of an earlier one"
note "18 programs, $over of them at the address of an earlier one"
