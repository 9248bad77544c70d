#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Exports a recording of this kernel to the format of the ftrace stackmap and imports it again: its
# stacks stay the same.  Imports the text of this kernel's `trace` file: its lines stay the same.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

record -a --no-user-stacks -e sched:sched_switch -e sched:sched_wakeup -o live.stk -- \
	sleep "$(scale 1 3)"
"$STACKONCE" export fsmb live.stk -q -o map || fail "export ended with $?"
"$STACKONCE" import fsmb map -q --kallsyms /proc/kallsyms -o again.stk ||
	fail "import ended with $?"
"$STACKONCE" export fsmb again.stk -q -o map2 || fail "the second export ended with $?"
cmp map map2 || fail "the import does not export to the same bytes"
"$STACKONCE" stacks --json live.stk | jq -c '[.id, .refs, .depth, [.frames[].ip]]' >stacks.live
"$STACKONCE" stacks --json again.stk | jq -c '[.id, .refs, .depth, [.frames[].ip]]' >stacks.again
[ -s stacks.live ] || fail "the recording has no stacks"
cmp stacks.live stacks.again || fail "ids, references, depths or frames differ"

# later_cpus TRACE: a line for each CPU whose first event is later than the first event of all: if
# the ring was overwritten, that CPU may have lost events in between
later_cpus()
{
	grep -oE -e '-[0-9]+ +\[[0-9]{3}\] [^ ]+ +[0-9]+\.[0-9]+: ' "$1" | awk '
		{ cpu = substr($2, 2, 3) + 0 }
		NR == 1 { begin = $4 }
		!seen[cpu]++ && $4 != begin { print "CPU:" cpu " [LOST EVENTS]" }' | sort
}

# same_lines TRACE OVERWRITTEN: `script` prints all lines of the trace file.  If the ring was
# overwritten, which the file's header says, it also prints what may have been lost.
same_lines()
{
	"$STACKONCE" import fsmb map -q --trace "$1" --force -o text.stk ||
		fail "import --trace ended with $?"
	grep -v '^#' "$1" | tr -s ' ' | sed 's/^ //; s/ $//' | sort >want
	"$STACKONCE" script text.stk | grep -v '^#' | tr -s ' ' | sed 's/^ //; s/ $//' | sort >all
	grep -v '^CPU:[0-9]* \[LOST EVENTS\]$' all >got
	grep '^CPU:[0-9]* \[LOST EVENTS\]$' all >lost || :
	if [ "$2" = yes ]; then
		later_cpus "$1" >want_lost
	else
		: >want_lost
	fi
	cmp want_lost lost || fail "$1: losses of script and of the trace file differ: \
$(cat lost; echo and; cat want_lost)"
	cmp want got || {
		diff want got | head -n 10
		fail "$1: the lines that script prints differ from the trace file"
	}
}

# overwritten TRACE: prints yes or no, as the file's header says
overwritten()
{
	awk -F'[ /]+' '/^# entries-in-buffer/ { seen = 1; print $4 < $5 ? "yes" : "no" }
		END { exit !seen }' "$1"
}

# A task whose name looks like the columns that follow it.
new_instance
cp "$PROG/getppid" 'a-1 [0] 2: b-3' || fail "cannot copy a program"
echo 4096 >"$instance/buffer_size_kb"
echo 0 >"$instance/options/stacktrace" 2>/dev/null || :
for e in sched/sched_switch sched/sched_wakeup irq/softirq_entry irq/irq_handler_entry; do
	echo 1 >"$instance/events/$e/enable" || fail "tracefs refuses $e"
done
# ftrace may miss the switches of a task that ends at once, but not its system calls
echo 'comm ~ "a-1*"' >"$instance/events/raw_syscalls/sys_enter/filter" ||
	fail "tracefs refuses a filter"
echo 1 >"$instance/events/raw_syscalls/sys_enter/enable" || fail "tracefs refuses raw_syscalls"
# Where many tasks run, ftrace forgets the names of ended ones soon.
for try in 1 2 3 4 5 6 7 8 9 10; do
	echo 1 >"$instance/tracing_on"
	sleep 0.2
	"$work/a-1 [0] 2: b-3" 100 || fail "the copy ended with $?"
	echo 0 >"$instance/tracing_on"
	cat "$instance/trace" >trace
	[ "$try" -lt 3 ] || ! grep -q '^ *a-1 \[0\] 2: b-3-[0-9]' trace || break
done
old=$(overwritten trace) || fail "the trace file has no count of its entries"
same_lines trace "$old" # yes if there are more switches on this machine than fit into the ring
grep -q '^a-1 \[0\] 2: b-3-[0-9]' want || fail "ftrace did not see the task with the odd name"
lines=$(wc -l <want)

# A ring that is certainly overwritten.
echo >"$instance/trace"
echo 4 >"$instance/buffer_size_kb"
echo 1 >"$instance/tracing_on"
"$work/a-1 [0] 2: b-3" 5000 || fail "the copy ended with $?"
echo 0 >"$instance/tracing_on"
cat "$instance/trace" >small
[ "$(overwritten small)" = yes ] || fail "5000 events fit into 4 KiB: $(grep entries-in small)"
same_lines small yes
small=$(wc -l <want)

# Stacks in full, as where the kernel's stack map is full: every event of the text keeps its own,
# and `script` prints the names that the kernel printed.
# stacks: prints each stack in a line, sorted: other events may come between an event and its stack
stacks()
{
	sed '/^ => /s/+0x.*//; s/ *$//' | awk '
		/^ => / { line = line $0; next }
		line != "" { print line; line = "" }
		END { if (line != "") print line }' | sort
}
echo >"$instance/trace"
echo 1024 >"$instance/buffer_size_kb"
echo 1 >"$instance/options/stacktrace" || fail "tracefs refuses stacktrace"
echo 0 >"$instance/options/sym-offset"
echo 1 >"$instance/tracing_on"
"$work/a-1 [0] 2: b-3" 100 || fail "the copy ended with $?"
echo 0 >"$instance/tracing_on"
# Not frames without a name: a test beside this one may have unloaded its BPF programs since.
grep -v '^ => 0x' "$instance/trace" >full
echo 0 >"$instance/options/stacktrace"
printf 'BMSF\1\0\0\0\0\0\0\0\0\0\0\0' >none
for syms in '' '--kallsyms /proc/kallsyms'; do
	# shellcheck disable=SC2086 # words
	"$STACKONCE" import fsmb none $syms --trace full --force -o full.stk 2>summary ||
		fail "import of stacks in full ended with $?"
	grep -q -e 'without an event' -e 'in which there is no event' summary &&
		fail "stacks in full are not kept: $(cat summary)"
	stacks <full >want
	"$STACKONCE" script full.stk | stacks >got
	[ "$(wc -l <want)" -ge 100 ] || fail "the text has no stacks in full"
	cmp want got || {
		diff want got | head -n 4
		fail "with '$syms': stacks of the text and of the import differ"
	}
done
full=$(wc -l <want)

note "$(wc -l <stacks.live) stacks and $lines trace lines kept, $small lines of an" \
	"overwritten ring, $full stacks in full"
