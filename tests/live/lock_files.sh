#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Lock contention is recorded with user stacks while all CPUs run programs that were never seen: the
# file events take a lock of their own, and must not wait for it in an event that happens under it.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1
need_tracefs
[ -d "$tracefs/events/lock/contention_end" ] || skip "this kernel has no event lock:contention_end"

# run_new NAME: runs programs that are new files.
run_new()
{
	for i in $(seq 1 "$programs"); do
		cp "$user/utiny0" "$1$i" && "./$1$i" && rm "$1$i" || return 1
	done >/dev/null
}

programs=$(scale 60 20)
record_bg -a --user-stacks -o lock.stk -e lock:contention_begin -e lock:contention_end \
	-e sched:sched_switch
loads=
for cpu in $(seq 1 "$(nproc)"); do
	run_new "new$cpu." &
	loads="$loads $!"
done
for load in $loads; do
	wait "$load" || fail "a program cannot be copied and run"
done
stop_recorder
want_user lock.stk
files=$("$STACKONCE" files --json lock.stk | grep -c '/new[0-9]*\.[0-9]*"')
contended=$(counted lock.stk lock:contention_end recorded)
[ "$files" -gt 0 ] || fail "no new program has a name"
# an emulated machine runs the programs too slowly for them to meet each time
[ "$contended" -gt 0 ] || [ -n "${LIVE_VM:-}" ] || fail "no lock was contended"
note "$contended times a lock was contended," \
	"$files files of $((programs * $(nproc))) programs have a name"
