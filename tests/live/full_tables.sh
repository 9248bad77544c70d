#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Tables of fixed size that are full: the recording says which, and how often.  The tables are
# filled from outside, because no test machine has so many files, names and threads.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

tables='copies names files threads'
for i in 1 2 3 4 5; do
	cp "$PROG/getppid" ./copied$i
done
cp "$PROG/getppid" ./program
ln program second-name
cp "$PROG/getppid" ./new-file
cat >copies <<'END'
for i in 1 2 3 4 5; do ./copied$i 10; done
END
echo './program 10; ./second-name 10' >names
echo './new-file 10' >files
echo './program 10' >threads

# What is recorded: one step for each table, after the table was filled.
cat >steps <<'END'
for table; do
	until [ -e "full.$table" ]; do sleep 0.1; done
	. "./$table" >/dev/null
	: >"ran.$table"
done
END

# is_stopped: all threads of the recorder are stopped.
is_stopped()
{
	! sed 's/.*) //' /proc/"$recorder"/task/*/stat | grep -qv '^T'
}

# shellcheck disable=SC2086 # a list
sh ./steps $tables &
steps=$!
test_pids="$test_pids $steps"
"$STACKONCE" record -p "$steps" --user-stacks -e raw_syscalls:sys_enter \
	>"$work/record_bg.out" 2>"$work/record_bg.err" &
recorder=$!
test_pids="$test_pids $recorder"
wait_armed "$recorder" trace.stk
info_true trace.stk '[.full_tables[]] | add == 0' || {
	info_of trace.stk .full_tables
	fail "a table was full before it was filled"
}
# A stack is copied if the unwind table of its file is not loaded: a stopped recorder loads none.
for table in $tables; do
	"$PROG/recorder_maps" "$recorder" "$table" || fail "table '$table' cannot be filled"
	[ "$table" != copies ] || {
		kill -STOP "$recorder"
		until_true 60 is_stopped || fail "the recorder does not stop"
	}
	: >"full.$table"
	until_true 60 test -e "ran.$table" || fail "the programs for '$table' do not end"
	[ "$table" != copies ] || kill -CONT "$recorder"
done
wait "$steps"
wait_recorder
want_sum trace.stk
cat record_bg.err
"$STACKONCE" info trace.stk >text
for table in $tables; do
	info_true trace.stk ".full_tables.$table > 0" || {
		info_of trace.stk .full_tables
		fail "the recording does not say that the table '$table' was full"
	}
	grep -q "^Full  *tables: .*$table [1-9]" text ||
		fail "info does not print that the table '$table' was full"
done
[ "$(grep -c 'warning: [0-9,]* \(times a \(file\|name\)\|user stacks\)' record_bg.err)" -eq 4 ] ||
	fail "there is not one warning for each table"
