#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ftrace and stackonce on the same tracepoint: neither changes what the other counts.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tracefs
n=$(scale 20000 4000)
# A unique name, because other processes may call getppid, too.
comm=gp$$
cp "$PROG/getppid" $comm
new_instance
echo "id == 110 && comm == \"$comm\"" >"$instance/events/raw_syscalls/sys_enter/filter"
echo 16384 >"$instance/buffer_size_kb"

# ftrace_count FILE: runs the workload and writes to FILE how many of its calls ftrace has.  The
# filter admits no others, and ftrace may have forgotten the name that belongs to the PID.
ftrace_count()
{
	echo >"$instance/trace"
	echo 1 >"$instance/events/raw_syscalls/sys_enter/enable"
	./$comm "$n" >/dev/null
	echo 0 >"$instance/events/raw_syscalls/sys_enter/enable"
	overrun=$(cat "$instance"/per_cpu/cpu*/stats |
		awk '/^overrun:/ { n += $2 } END { print n + 0 }')
	[ "$overrun" -eq 0 ] || fail "ftrace's buffer is too small for this test"
	grep -vc '^#' "$instance/trace" >"$1"
}

ftrace_count alone || :
# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy -o b.stk -e raw_syscalls:sys_enter --filter 'id == 110'
ftrace_count beside || :
stop_recorder
want_sum b.stk
for f in alone beside; do
	[ "$(cat $f)" -eq "$n" ] || fail "ftrace $f: $(cat $f) of $n calls"
done
seen=$(printed b.stk --comm $comm)
lost=$(counted b.stk raw_syscalls:sys_enter lost)
want_calls "stackonce beside ftrace" "$n" "$seen" "$lost" \
	"$(edge_of b.stk raw_syscalls:sys_enter)"
note "both recorded $n calls"
