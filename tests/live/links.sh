#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What is attached to the kernel during a recording is what docs/native-events.md says: one program
# for each native event, two for one that may interrupt its own program, and perf's part only where
# the kernel fills the records.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# links: prints a word for each attachment of the recorder: the raw tracepoint, or "perf" for a
# program that perf calls.
links()
{
	{
		cat /proc/"$recorder"/fdinfo/* 2>/dev/null
		echo pos: # each file begins with this
	} | awk '
		$1 == "link_type:" { type = $2 }
		$1 == "link_id:" { id = $2 }
		$1 == "tp_name:" { name = $2 }
		$1 == "pos:" {
			if (type == "raw_tracepoint")
				print name, id
			else if (type ~ /^perf/)
				print "perf", id
			type = ""
		}' | sort
}

# Where there are modules, the recorder follows them.
modules=
! grep -q ' [a-zA-Z] modules$' /proc/kallsyms || modules='module_free module_load'

# are_links WORD...: the recorder has these attachments, in any order, and those for modules.
are_links()
{
	links >attached
	cut -d ' ' -f 1 attached | sort >are
	# shellcheck disable=SC2086 # words
	printf '%s\n' $modules "$@" | sort | cmp -s - are
}

bpftool=$(command -v bpftool)

# want_links WORD... -- RECORD-OPTIONS...: a recording has these attachments, at the latest after
# some seconds: the comparison of its first records with those of the kernel has attachments, too,
# and so has what the recorder determines at its start.  A command ends when the file go is removed.
want_links()
{
	wanted=
	while [ "$1" != -- ]; do
		wanted="$wanted $1"
		shift
	done
	shift
	rm -f links.stk # it appears when its events are recorded
	: >go
	record_bg -o links.stk "$@"
	# shellcheck disable=SC2086 # words
	until_true 5 are_links $wanted ||
		fail "record $*: attached is $(cat attached), not$wanted $modules"
	# not the list of all links, which ends with an error where another one is being attached
	while [ -n "$bpftool" ] && read -r name id; do
		bpftool -j link show id "$id" >bpftool.json || fail "bpftool link ended with $?"
		jq -e --argjson id "$id" --arg name "$name" '.id == $id and
			(if $name == "perf" then .type == "perf_event"
			 else .tp_name == $name end)' bpftool.json >/dev/null ||
			fail "bpftool does not list link $id of $name"
	done <attached
	rm go
	case " $* " in
	*' -- '*) wait_recorder ;;
	*) stop_recorder ;;
	esac
	want_sum links.stk
}

# Without user stacks, of all tasks.
all='-a --no-user-stacks'
# shellcheck disable=SC2086 # options
{
	want_links sched_switch -- $all -e sched:sched_switch
	want_links perf sched_switch -- $all --fields kernel -e sched:sched_switch
	want_links kfree kfree kmalloc kmalloc -- $all -e kmem:kmalloc,kmem:kfree
	want_links sched_switch sched_wakeup_new sched_waking -- $all --preset offcpu
	want_links sched_switch sys_enter sys_exit -- $all -e sched:sched_switch \
		-e syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_exit_write
	want_links perf sched_switch task_newtask -- $all -e sched:sched_switch,task:task_newtask
}

# With user stacks, whose files are looked up when a program begins.
want_links sched_process_exec sched_switch -- -a --user-stacks -e sched:sched_switch
# The tasks of a command: it begins when the task is renamed, and its children are selected.
cat >until_gone <<'END'
while [ -e go ]; do
	sleep 0.05
done
END
want_links sched_process_exec sched_switch task_newtask task_rename -- \
	-e sched:sched_switch -- sh until_gone
want_links perf sched_process_exec sched_switch task_newtask task_rename -- \
	--fields kernel -e sched:sched_switch -- sh until_gone
as=without
[ -z "$bpftool" ] || as="compared with"
note "$(wc -l <attached) attachments of the last recording, $as bpftool"
