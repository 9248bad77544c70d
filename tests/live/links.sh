#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What is attached to the kernel during a recording is what docs/native-events.md says: one program
# for each native event, two for one that may interrupt its own program, and perf's part only where
# the kernel fills the records.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# links: prints a word for each attachment of the recorder: the raw tracepoint, or "perf" for a
# program that perf calls.  An attachment for other events than the test's, by which the recorder
# follows modules, is left out.
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
			if (type == "raw_tracepoint" && name !~ /^module_/)
				print name, id
			else if (type ~ /^perf/)
				print "perf", id
			type = ""
		}' | sort
}

# are_links WORD...: the recorder has these attachments.
are_links()
{
	links >links
	[ "$(cut -d ' ' -f 1 links | paste -sd ' ')" = "$*" ]
}

bpftool=$(command -v bpftool)

# want_links WORD... -- RECORD-OPTIONS...: a recording has these attachments, at the latest after
# some seconds: the comparison of its first records with those of the kernel has attachments, too.
want_links()
{
	wanted=
	while [ "$1" != -- ]; do
		wanted="$wanted $1"
		shift
	done
	shift
	rm -f links.stk # it appears when its events are recorded
	record_bg --no-user-stacks -o links.stk "$@"
	# shellcheck disable=SC2086 # words
	until_true 5 are_links $wanted || fail "record $*: attached is $(cat links), not$wanted"
	# not the list of all links, which ends with an error where another one is being attached
	while [ -n "$bpftool" ] && read -r name id; do
		bpftool -j link show id "$id" >bpftool.json || fail "bpftool link ended with $?"
		jq -e --argjson id "$id" --arg name "$name" '.id == $id and
			(if $name == "perf" then .type == "perf_event"
			 else .tp_name == $name end)' bpftool.json >/dev/null ||
			fail "bpftool does not list link $id of $name"
	done <links
	stop_recorder
	want_sum links.stk
}

# The program that perf calls for task:task_rename has calibrated the others, and runs no more.
want_links perf sched_switch -- -a -e sched:sched_switch
want_links perf perf sched_switch -- -a --fields kernel -e sched:sched_switch
want_links kfree kfree kmalloc kmalloc perf -- -a -e kmem:kmalloc,kmem:kfree
want_links perf sched_switch sched_wakeup_new sched_waking -- -a --preset offcpu
want_links perf sched_switch sys_enter sys_exit -- -a \
	-e syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_exit_write,sched:sched_switch
want_links perf perf sched_switch task_newtask -- -a -e sched:sched_switch,task:task_newtask
as=without
[ -z "$bpftool" ] || as="compared with"
note "$(wc -l <links) attachments of the last recording, $as bpftool"
