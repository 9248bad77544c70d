# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2015 # $tracefs, $OUT
# needs: variant=default,debug smp=2
# timeout: 300
# Programs run from a FUSE file system whose server (hung_fs) stops answering; it prints who asks
# it.  Nothing waits for it because of user stacks: the tasks themselves go on and have stacks; a
# stack that is taken from outside, the trace, file_map, the dump of all files, a reset and the
# removal of the instance come in time.  The file has its path, and its build id if the page with
# its headers is in memory.  While that page is gone there is none, though the server answers; once
# it is there again, stacks find it.
# shellcheck source=kernel/tests/libuser.sh
. "$TESTS/libuser.sh"

d=/tmp/hung
p=$d/program

# Whoever waits for the server goes on when it has ended.
clean_up()
{
	kill "$server" "$witness" "$sleeper" "$spinner"
	umount -l $d
} 2>/dev/null

# in_time WHAT COMMAND...: fails unless the command ends in time, with status 0.  What hangs may be
# impossible to kill, so it is not waited for.
in_time()
{
	what=$1
	shift
	"$@" &
	until_true "$(by_variant 600 1800)" 100000 is_over $! || {
		echo w >/proc/sysrq-trigger
		fail "$what hangs: the kernel log has the stacks of all that is blocked"
	}
	wait $! || fail "$what: exit status $?"
}

put()
{
	echo "$1" >"$2"
}

copy()
{
	cat "$1" >"$2"
}

# has_asked PID: has the task asked the server that hangs?
has_asked()
{
	grep -q "^asked [0-9]* $1\$" "$OUT/asked"
}

# has_dropped N: has the server had the page with the headers dropped N times?
has_dropped()
{
	[ "$(grep -c '^dropped$' "$OUT/asked")" = "$1" ]
}

# witness_asked: fails if other tasks than the witness have asked the server that hangs.
witness_asked()
{
	! grep '^asked ' "$OUT/asked" | grep -v " $witness\$" || fail "others have asked the server"
}

# entry_of FILE: what it says about the program
entry_of()
{
	sed -n "s|.*hash=0x[0-9a-f]* \(path=$p build_id=.*\)|\1|p" "$1" | sort -u
}

# entry_is TEXT FILE
entry_is()
{
	[ "$(entry_of "$2")" = "$1" ]
}

# check_entry TEXT FILE: fails unless that is what the file says about the program.
check_entry()
{
	entry_is "$1" "$2" || fail "'$(entry_of "$2")', not '$1'"
}

# trace_another NAME: another program has its stack in the trace.
trace_another()
{
	in_time "another program" "$prog" chain 5
	other=$!
	in_time "reading the trace" copy "$i/trace" "$OUT/trace-$1"
	has_stack "$other" "$OUT/trace-$1" || fail "another program has no stack"
}

dump_files()
{
	in_time "writing out all files" put 1 "$i/file_map"
	in_time "reading file_map" copy "$i/file_map" "$OUT/file_map-$1"
}

put_away()
{
	in_time "switching tracing off" put 0 "$i/tracing_on"
	in_time "switching userstacktrace off" put 0 "$i/options/userstacktrace"
	in_time "a reset of user_stack_map" put 0 "$i/user_stack_map"
	in_time "a reset of stack_map" put 0 "$i/stack_map"
	in_time "switching stackmap off" put 0 "$i/options/stackmap"
	in_time "removing the instance" rmdir "$i"
}

in_memory="path=$p build_id=$("$prog" chain | sed -n 's/^build_id //p')"
unknown="path=$p build_id=none"
mkdir -p $d
trap clean_up EXIT
"$TESTS/hung_fs" $d "$prog" >"$OUT/asked" &
server=$!
until_true 600 50000 grep -q " $d fuse " /proc/mounts || fail "the file system is not mounted"
# After that it is in memory from end to end, so that the programs run without the server.
cmp "$prog" $p || fail "the program is another one"

# Both run; one asks for its stack and sleeps, so the file is not in the table of its instance yet.
user_instance hung
asleep=$i
echo 1 >"$i/events/syscalls/sys_enter_futex/enable"
echo 1 >"$i/tracing_on"
"$p" wait 600 >/dev/null &
sleeper=$!
"$p" spin 600 &
spinner=$!
until_call "$sleeper" "$nr_futex"
until_call "$spinner" "$nr_nanosleep"

# The page with the headers goes, which the programs do not need any more.  Nobody reads it for the
# build id, though the server answers.
kill -USR2 "$server"
until_true 600 50000 has_dropped 1 || fail "the headers stay in memory"
user_instance hung_read
in_time "switching tracing on" getppid_on
until_true 600 50000 has_stack "$spinner" "$i/trace" || fail "the task that runs has no stack"
cat "$i/file_map" >"$OUT/file_map-read"
check_entry "$unknown" "$OUT/file_map-read"
cat $p >/dev/null
until_true 600 50000 entry_is "$in_memory" "$i/file_map" ||
	fail "the headers are there again: '$(entry_of "$i/file_map")', not '$in_memory'"
put_away

kill -USR1 "$server"
until_true 600 50000 grep -q '^hung$' "$OUT/asked" || fail "the server does not hang"
cat $d/none 2>/dev/null &
witness=$!
until_true 600 50000 has_asked "$witness" || fail "who opens a file does not ask the server"

# The stack of the task that sleeps is taken from outside.
i=$asleep
in_time "switching tracing off" put 0 "$i/tracing_on"
in_time "reading the trace" copy "$i/trace" "$OUT/trace-asleep"
has_stack "$sleeper" "$OUT/trace-asleep" || fail "the task that sleeps has no stack"
paths_of "$OUT/trace-asleep"
check_entry "$in_memory" "$OUT/trace-asleep"

# The table is empty again: the task that runs looks at the file on its way back.
in_time "a reset of user_stack_map" put 0 "$i/user_stack_map"
in_time "switching tracing on" getppid_on
in_time "a stack of the task that runs" until_true 600 50000 has_stack "$spinner" "$i/trace"
trace_another running
dump_files running
check_entry "$in_memory" "$OUT/file_map-running"
put_away
witness_asked

# The page with the headers goes again: neither the dump nor the tasks wait for it.
kill -USR2 "$server"
until_true 600 50000 has_dropped 2 || fail "the headers stay in memory"
user_instance hung_headers
in_time "switching tracing on" put 1 "$i/tracing_on"
dump_files headers
check_entry "$unknown" "$OUT/file_map-headers"
in_time "switching events on" getppid_on
in_time "the task that runs" until_true 600 50000 has_stack "$spinner" "$i/trace"
# It makes one system call after the other: it goes on.
echo >"$i/trace"
in_time "the task that runs" until_true 600 50000 has_stack "$spinner" "$i/trace"
trace_another headers
dump_files later
check_entry "$unknown" "$OUT/file_map-later"
put_away
witness_asked
! is_over "$witness" || fail "the server has answered"

# The end of the server ends the waits for it.
kill "$server"
until_true 600 100000 is_over "$witness" || fail "a task waits for a server that has ended"
until_call "$spinner" "$nr_nanosleep"
note "$in_memory; without headers in memory build_id=none, and nobody waits"
