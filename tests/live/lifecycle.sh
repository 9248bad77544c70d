#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings begin, fail, are stopped and end: the tests check commands, signals, terminals, files
# and the recorder's exit status.
# shellcheck disable=SC2086 # $plain is an option or nothing
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

call=syscalls:sys_enter_getppid
# The programs for user stacks take long to load, and this test does not need them.
plain=$(scale --no-user-stacks --no-user-stacks '')

# try COMMAND...: runs the command; $rc is its exit status.
try()
{
	rc=0
	"$@" || rc=$?
}

# want_rc STATUS WHAT: $rc is STATUS
want_rc()
{
	[ "$rc" -eq "$1" ] || {
		cat err 2>/dev/null
		fail "$2: exit status $rc instead of $1"
	}
}

# gone PID: the process has exited; it may be a zombie.
gone()
{
	! grep -q '^State:.[^ZX]' "/proc/$1/status" 2>/dev/null
}

# taken PID: the process has no pending signal.  A signal that is sent while it is pending is not
# queued again.
taken()
{
	! grep -q '^\(Sig\|Shd\)Pnd:.*[1-9a-f]' "/proc/$1/status"
}

# left_running FILE: the command that wrote its PID to FILE still runs, and record says so; ends it.
left_running()
{
	until_true 5 test -s "$1" || fail "the command of $1 has not begun"
	pid=$(cat "$1")
	kill -0 "$pid" 2>/dev/null || fail "the command of $1 does not run any more"
	grep -q "process $pid" err || {
		cat err
		fail "no message says that process $pid still runs"
	}
	kill -KILL "$pid"
}

# begin_load: causes many events until end_load.
begin_load()
{
	"$PROG/getppid" 1000000000 >load.out &
	load=$!
	test_pids="$test_pids $load"
}

end_load()
{
	end_child KILL "$load"
}

# The command's output is not part of a recording on standard output.
own_stdout()
{
	rc=0
	"$STACKONCE" record $plain -q -o - -e $call -- "$PROG/getppid" 10 >own.stk 2>err || rc=$?
	want_rc 0 "record -o -"
	grep -q '^events 10' err || fail "the command's output is not on standard error"
	[ "$("$STACKONCE" script --json own.stk | wc -l)" -eq 10 ] ||
		fail "script does not print 10 events of record -o -"
	[ "$(info_of own.stk -r .ended)" = clean ] || fail "record -o - did not end cleanly"
}

# A recording that cannot begin does not replace an earlier one and leaves nothing behind.
failed_runs()
{
	record -o keep.stk -e $call -- "$PROG/getppid" 1
	record -o keep.stk -e $call -- "$PROG/getppid" 2
	mkdir kept
	cp keep.stk keep.stk.old kept
	printf '#!/nonexistent/interpreter\n' >broken
	chmod +x broken
	for _ in 1 2; do
		try "$STACKONCE" record $plain -q -o keep.stk -e $call -- ./broken 2>err
		want_rc 127 "a command without its interpreter"
	done
	for f in keep.stk*; do
		cmp "$f" "kept/$f" || fail "failed recordings have changed $f"
	done
	try "$STACKONCE" record $plain -q -o /nonexistent/x.stk -e $call -- touch started 2>err
	want_rc 1 "an output that cannot be created"
	[ ! -e started ] || fail "the command ran although the output cannot be created"
}

# The command is searched as in the shell.
command_search()
{
	mkdir -p p1/tool p2 p3
	echo 'exit 9' >p2/tool
	echo 'echo "$# $1" >args; exit 5' >p3/tool
	chmod +x p3/tool
	old=$PATH
	PATH=$work/p1:$work/p2:$work/p3:$old
	try "$STACKONCE" record $plain -q -o x.stk -e $call -- tool 'a b' 2>err
	want_rc 5 "a script after a directory and a file of the same name"
	[ "$(cat args)" = '1 a b' ] || fail "the script got wrong arguments: $(cat args)"
	rm args
	cd p3 || exit 1
	PATH=:$old
	try "$STACKONCE" record $plain -q -o x.stk -e $call -- tool 2>err
	cd .. || exit 1
	want_rc 5 "a command in the current directory, which is an empty part of PATH"
	PATH=$work/p1:$work/p2:$old
	try "$STACKONCE" record $plain -q -o x.stk -e $call -- tool 2>err
	want_rc 126 "a command that may not be executed"
	PATH=$work/p1/tool:$old
	try "$STACKONCE" record $plain -q -o x.stk -e $call -- tool 2>err
	want_rc 127 "a command that does not exist"
	PATH=$old
}

# A command has the ignored signals and the limits with which the recorder was started.
inherited()
{
	cat >show <<'EOF'
#!/bin/sh
grep '^Sig[BI]' /proc/self/status
ulimit -Sn
ulimit -Hn
EOF
	chmod +x show
	for ignored in '' 'INT HUP' PIPE; do
		(
			# shellcheck disable=SC2086 # a list
			[ -z "$ignored" ] || trap '' $ignored
			ulimit -Sn 333
			./show >without
			"$STACKONCE" record $plain -q -o x.stk -e $call -- ./show >with
		)
		cmp without with || {
			diff without with
			fail "signals or limits of a command differ with '$ignored' ignored"
		}
	done
	# an ignored signal does not stop the recording either
	rc=0
	(
		trap '' HUP
		exec "$STACKONCE" record $plain -q -o x.stk -e $call -- \
			sh -c 'kill -HUP $PPID; sleep 0.3; exit 3'
	) || rc=$?
	want_rc 3 "an ignored SIGHUP"
}

# The recorder forwards its signals to the command; signals of the terminal reach the command once.
forwarded()
{
	cat >listen <<'EOF'
#!/bin/sh
for s in INT TERM HUP; do
	trap "echo $s >>got" $s
done
echo $PPID >ready
while [ ! -e enough ]; do
	sleep 0.1
done
exit 6
EOF
	chmod +x listen
	mkfifo keys
	for s in HUP TERM INT key; do
		rm -f ready got enough
		"$PROG/ontty" "$STACKONCE" record $plain -q -o tty.stk -e $call -- \
			./listen <keys >err &
		tty=$!
		exec 8>keys
		until_true 30 test -s ready || fail "the command did not start"
		if [ $s = key ]; then
			echo >&8
			s=INT
		else
			kill -$s "$(cat ready)"
		fi
		until_true 5 test -s got || fail "SIG$s did not reach the command"
		sleep 0.3
		: >enough
		rc=0
		wait $tty || rc=$?
		exec 8>&-
		want_rc 6 "a command that handles SIG$s"
		[ "$(cat got)" = $s ] || fail "the command got $(cat got) for one SIG$s"
		[ "$(info_of tty.stk -r .ended)" = clean ] ||
			fail "the recording did not end cleanly"
	done
}

# A second Ctrl-C ends the recording, whatever the command does.
twice()
{
	"$PROG/ontty" "$STACKONCE" record $plain -q -o twice.stk -e $call -- \
		sh -c 'trap "" INT; echo $PPID >recorder; echo $$ >stubborn; exec sleep 1000' \
		<keys >err &
	tty=$!
	exec 8>keys
	until_true 30 test -s stubborn || fail "the command did not start"
	echo >&8
	until_true 5 grep -q '\^C' err || fail "the terminal does not show Ctrl-C"
	until_true 5 taken "$(cat recorder)" || fail "the recorder does not take SIGINT"
	sleep 0.3
	gone $tty && fail "one Ctrl-C ended the recording although the command still runs"
	echo >&8
	until_true 5 gone $tty || fail "a second Ctrl-C does not end the recording"
	rc=0
	wait $tty || rc=$?
	exec 8>&-
	want_rc 130 "two Ctrl-C"
	left_running stubborn
	[ "$(info_of twice.stk -r .ended)" = clean ] || fail "the recording did not end cleanly"
}

# A second signal also ends a recording that waits for a pipe without a reader.
blocked()
{
	mkfifo pipe
	sleep 1000 <pipe &
	reader=$!
	test_pids="$test_pids $reader"
	begin_load
	"$STACKONCE" record $plain -q -a -o pipe -e raw_syscalls:sys_enter 2>err &
	recorder=$!
	test_pids="$test_pids $recorder"
	until_true 10 grep -q pipe_write /proc/$recorder/wchan /proc/$recorder/stack 2>/dev/null ||
		fail "the recorder does not wait for the pipe"
	kill -TERM $recorder
	until_true 5 taken $recorder || fail "the recorder does not take SIGTERM"
	sleep 0.3
	kill -TERM $recorder
	until_true 5 gone $recorder || fail "a blocked output cannot be interrupted"
	rc=0
	wait $recorder || rc=$?
	want_rc 143 "a blocked output"
	end_load
	kill $reader
}

# When the disk is full, the recorder ends, the command continues, and the accounting is correct.
full()
{
	mkdir mnt
	mount -t tmpfs -o size=512k tmpfs mnt || fail "tmpfs cannot be mounted"
	begin_load
	try "$STACKONCE" record $plain -q -a -o mnt/full.stk -e raw_syscalls:sys_enter -- \
		sh -c 'echo $$ >unaware; exec sleep 1000' 2>err
	want_rc 1 "a full disk"
	end_load
	left_running unaware
	[ "$(wc -l <err)" -eq 2 ] || {
		cat err
		fail "$(wc -l <err) messages for a full disk with a command"
	}
	events=$(printed mnt/full.stk)
	recorded=$(info_of mnt/full.stk .totals.recorded)
	unwritten=$(info_of mnt/full.stk .totals.lost_by.write)
	[ "$events" -gt 100 ] || fail "only $events events before the disk was full"
	[ "$recorded" -le "$events" ] ||
		fail "the accounting says $recorded events, $events are in the file"
	# sometimes even the final accounting does not fit
	if [ "$unwritten" -gt 0 ]; then
		want_sum mnt/full.stk
	fi
	umount mnt
}

no_bpf_fds()
{
	# shellcheck disable=SC2010 # the targets of the links
	! ls -l "/proc/$1/fd" 2>/dev/null | grep -q bpf
}

complete()
{
	[ -s "$1" ] && [ "$(info_of "$1" -r .ended 2>/dev/null)" = clean ]
}

# A command outlives -d: no program is attached any more, and the file has no exit status.
outlived()
{
	mkfifo end
	"$STACKONCE" record $plain -q -d 0.3 -o short.stk -e $call -- \
		sh -c 'read -r x <end; exit 7' &
	recorder=$!
	test_pids="$test_pids $recorder"
	until_true 10 complete short.stk || fail "the recording does not end after -d"
	until_true 5 no_bpf_fds $recorder || fail "programs are still attached after the recording"
	echo >end
	rc=0
	wait $recorder || rc=$?
	want_rc 7 "a command that outlives -d"
	grep -qa exit_status short.stk && fail "the file has an exit status of a running command"
	record -o x.stk -e $call -- true
	grep -qa exit_status x.stk || fail "the file does not have the exit status"
}

# the_detacher: prints the PID of the child that detaches the programs of the recorder that was
# started with LIFECYCLE=$$.
the_detacher()
{
	# one grep for all processes, because the child may be short-lived
	grep -lx stackonce-end /proc/[0-9]*/comm 2>/dev/null | while IFS=/ read -r _ _ p _; do
		if tr '\0' '\n' 2>/dev/null <"/proc/$p/environ" | grep -q "^LIFECYCLE=$$\$"; then
			echo "$p"
			break
		fi
	done
}

# A child detaches the programs, also of one event, and is gone soon after.  If it is gone before
# this shell finds it, the next one has more to detach.
detached_one()
{
	pid=
	for more in '' '' '' ',block:*' ',block:*' ',block:*,ext4:*' ',block:*,ext4:*'; do
		LIFECYCLE=$$ "$STACKONCE" record $plain -q -o one.stk --force \
			-e "$call$more" -- true
		pid=$(the_detacher)
		[ -z "$pid" ] || break
	done
	[ -n "$pid" ] || fail "record itself detached its programs each time"
	complete one.stk || fail "the recording is not complete when record exits"
	until_true 10 gone "$pid" || fail "the programs are still attached: process $pid"
}

# kept PID: prints the files that the process has open, as far as they are no part of a recording's
# programs; false if there are none.
kept()
{
	ls -l "/proc/$1/fd" 2>/dev/null | sed -n 's/.* -> //p' | grep -v 'anon_inode\|/dev/null'
}

keeps_none()
{
	! kept "$1" >/dev/null
}

# A child detaches the programs, because many take long to detach, and the recorder does not wait
# for it.  Where the child has exited before the test finds it, the test attaches more programs.
detached()
{
	events='sched:*,timer:*,irq:*,signal:*,task:*,block:*,writeback:*,ext4:*,tcp:*,net:*'
	for more in '' ',syscalls:sys_enter_*' ',syscalls:*'; do
		(LIFECYCLE=$$ "$STACKONCE" record $plain -q -d 0.3 -o many.stk -e "$events$more" \
			9>&1 >/dev/null) | cat >/dev/null
		pid=$(the_detacher)
		[ -z "$pid" ] || break
	done
	[ -n "$pid" ] || fail "the pipe stayed open until all programs were detached"
	until_true 5 keeps_none "$pid" ||
		fail "the detaching child keeps these files open: $(kept "$pid")"
	stat=$(cat "/proc/$pid/stat" 2>/dev/null) || return 0
	nice=$(echo "${stat##*) }" | awk '{ print $17 }')
	[ "$nice" -eq "$(sed 's/.*) //' /proc/self/stat | awk '{ print $17 }')" ] ||
		fail "the detaching child runs at nice $nice"
}

has_threads()
{
	[ "$(ls "/proc/$1/task" | wc -l)" -ge 2 ]
}

# The id of a thread selects that thread alone.
one_thread()
{
	"$PROG/threads" 2 0 >/dev/null &
	threads=$!
	test_pids="$test_pids $threads"
	until_true 5 has_threads "$threads" || fail "the program has only one thread"
	# shellcheck disable=SC2010 # numbers
	tid=$(ls "/proc/$threads/task" | grep -v "^$threads\$" | head -n 1)
	[ -n "$tid" ] || fail "the program's second thread is not in /proc"
	record_bg -o thread.stk -p "$tid" -e $call
	end_child KILL "$threads"
	until_true 5 gone "$recorder" || fail "the recording of a thread does not end with it"
	rc=0
	wait "$recorder" || rc=$?
	want_rc 0 "the recording of a thread"
	"$STACKONCE" script --json thread.stk | grep -o '"tid": *[0-9]*' | grep -o '[0-9]*$' |
		sort -u >tids
	[ "$(cat tids)" = "$tid" ] || fail "-p $tid recorded $(cat tids)"
}

# In a PID namespace PIDs would not match the kernel's: record refuses.
namespace()
{
	need_tool unshare
	try unshare -p -f "$STACKONCE" record $plain -q -o ns.stk -e $call -- true 2>err
	want_rc 1 "a PID namespace"
	[ "$(wc -l <err)" -eq 1 ] && grep -q 'PID namespace' err || fail "message: $(cat err)"
	[ ! -e ns.stk ] || fail "record left a recording in a PID namespace"
}

own_stdout
failed_runs
command_search
inherited
forwarded
twice
blocked
full
outlived
detached_one
detached
one_thread
namespace
note "recordings begin, fail and end as they should"
