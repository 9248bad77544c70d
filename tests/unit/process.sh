#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Only our own children are ended: process.sh PROCESS-FUNCTIONS
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

# A process that is not our child, like one that has got the PID of a child that ended.  It runs
# until the pipe is closed.
mkfifo "$work/pipe"
(cat "$work/pipe" >/dev/null & echo $! >"$work/stranger")
exec 3>"$work/pipe"
stranger=$(cat "$work/stranger")
! is_child "$stranger" || failed "process $stranger is taken for a child"
end_child KILL "$stranger"
kill -0 "$stranger" || failed "a process that is not ours was killed"

cat <"$work/pipe" &
child=$!
is_child "$child" || failed "a child that runs is not seen"
(is_child "$child") || failed "a part of this shell does not see the shell's child"
(
	cat <"$work/pipe" &
	is_child $! || failed "a part of this shell does not see its own child"
	end_child KILL $!
) || exit 1
end_child TERM "$child" 999999999
! is_child "$child" || failed "it is seen when it has ended"

false &
ended=$!
wait "$ended"
! is_child "$ended" || failed "one that was waited for is seen"
