#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# process.sh PROCESS-FUNCTIONS: only children of the script are signalled.
set -u

# shellcheck source=tests/process.sh
. "$1"
work=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$work"' EXIT

failed()
{
	printf 'FAILED: %s\n' "$*"
	exit 1
}

# A process that is not a child, like one that reuses the PID of an ended child.  It runs until the
# pipe is closed.
mkfifo "$work/pipe"
(cat "$work/pipe" >/dev/null & echo $! >"$work/stranger")
exec 3>"$work/pipe"
stranger=$(cat "$work/stranger")
! is_child "$stranger" || failed "process $stranger is taken for a child"
end_child KILL "$stranger"
kill -0 "$stranger" || failed "a process that is not a child was killed"

cat <"$work/pipe" &
child=$!
is_child "$child" || failed "a running child is not recognized"
(is_child "$child") || failed "a subshell does not recognize the shell's child"
(
	cat <"$work/pipe" &
	is_child $! || failed "a subshell does not recognize its own child"
	end_child KILL $!
) || exit 1
end_child TERM "$child" 999999999
! is_child "$child" || failed "an ended child is taken for a running one"

false &
ended=$!
wait "$ended"
! is_child "$ended" || failed "a reaped child is taken for a running one"
