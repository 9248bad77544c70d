#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bombs.sh STACKONCE TRACE_BOMBS: recordings of a few KB that would take gigabytes or minutes.  Each
# must be refused with a message about it, within the limits of limits.h.
set -u
so=$1
make=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/bombs.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0
# shellcheck source=tests/unit/cmd/page.sh
. "$(dirname "$0")/page.sh"

# run COMMAND FILE...: returns its exit code; its messages are in $dir/err
run()
{
	"$LIMITED" "$so" "$@" >/dev/null 2>"$dir/err"
}

# refused COMMAND NAME: it exceeds the budget, with a message
refused()
{
	# shellcheck disable=SC2086 # a command and its options
	is_left_out $1 && return
	rc=0
	# shellcheck disable=SC2086 # a command and its options
	run $1 "$dir/$2.stk" || rc=$?
	if [ "$rc" -ne 1 ] ||
		! grep -q 'more memory or work than a recording of its size' "$dir/err"; then
		echo "not ok $1 of $2: exit $rc"
		head -n 3 "$dir/err"
		failed=1
		return
	fi
	# the file that is written has no part in it
	if [ "${1%% *}" = export ] && ! grep -q "$dir/$2.stk" "$dir/err"; then
		echo "not ok $1 of $2: the message does not name the recording"
		cat "$dir/err"
		failed=1
		return
	fi
	if [ "$(wc -l <"$dir/err")" -ne 1 ]; then
		echo "not ok $1 of $2: more than one message"
		cat "$dir/err"
		failed=1
		return
	fi
	echo "ok $1 of $2"
}

# harmless COMMAND NAME: it looks excessive, but fits the budget
harmless()
{
	rc=0
	run "$1" "$dir/$2.stk" || rc=$?
	if [ "$rc" -ne 0 ]; then
		echo "not ok $1 of $2: exit $rc"
		head -n 3 "$dir/err"
		failed=1
		return
	fi
	echo "ok $1 of $2, which is read"
}

"$make" "$dir" >"$dir/sizes" || exit 1
while read -r name command; do
	refused "$command" "$name"
done <<LIST
nodes info
many_nodes info
meta info
stacks info
many_stacks info
gap info
aliases info
user_symbols files
cpus report
many report
callers report --tree
callers report --weigh tid:p99 --tree
many report --by time
many report --weigh tid:hist
cpus report --by cpu,sym
replaced report
symbols script
callers diff --all $dir/callers.stk
many export clickhouse --rows s:tick
texts export clickhouse --rows s:text
callers export clickhouse --rows s:tick
callers export clickhouse --rows stacks
callers export clickhouse --rows frames
many view -o /dev/null
cpus view -o /dev/null
forks lifecycle
frees lifecycle
many export fsmb -o /dev/null
many export trace.dat -o /dev/null
cpus export trace.dat -o /dev/null
callers export trace.dat -o /dev/null
texts export trace.dat -o /dev/null
many export perfetto -o /dev/null
many export firefox --by time -o /dev/null
texts export firefox -o /dev/null
callers export firefox -o /dev/null
cpus export perfetto -o /dev/null
callers export perfetto -o /dev/null
texts export perfetto -o /dev/null
LIST
# queries, of which the command is asked by a file
sql()
{
	echo "SELECT count(DISTINCT $2) FROM $3" >"$dir/query"
	refused "sql -i" "$1" <"$dir/query"
}
sql callers "stack_key(id)" stacks
sql callers "stack(id)" stacks
harmless info keys
harmless info same_hash
end
