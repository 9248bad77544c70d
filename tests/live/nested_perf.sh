#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# perf's own walk of a user stack causes page faults: perf then drops the tracepoint for all its
# users, but the event is recorded, also where the kernel fills the records, then by the counter
# program; and no event is lost without a reason.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

need_tool perf
need_tracefs
n=$(scale 5000 500)
# with -a, perf records before it starts its command
perf record -q -e syscalls:sys_enter_getppid -g -a -o perf.data -- \
	sh -c 'touch ready; exec sleep 10000' >perf.log 2>&1 &
perf=$!
test_pids="$test_pids $perf"
while_runs "$perf" test -e ready || fail "perf ended: $(cat perf.log)"
# ftrace counts the faults
new_instance
fault=exceptions:page_fault_kernel
event=$instance/events/exceptions/page_fault_kernel
echo 'comm == "badframe"' >"$event/filter"
echo 1 >"$event/enable"
# our own walk of user stacks would fault as well, in our own programs
for fields in native kernel; do
	# shellcheck disable=SC2086 # an option and its value
	record -a $roomy --no-user-stacks --fields $fields -o $fields.stk -e $fault -- \
		"$PROG/badframe" "$n"
	seen=$(grep -c page_fault_kernel: "$instance/trace")
	echo >"$instance/trace"
	[ "$seen" -ge "$n" ] || skip "perf's stack walk does not fault here: only $seen faults"
	echo "$seen" >$fields.seen
done
is_child "$perf" || fail "perf ended: $(cat perf.log)"
end_child INT "$perf"
for fields in native kernel; do
	want_sum $fields.stk
	happened=$(counted $fields.stk $fault happened)
	recorded=$(counted $fields.stk $fault recorded)
	lost=$(counted $fields.stk $fault lost)
	[ "$lost" -le 4 ] || fail "$fields: $recorded of $happened faults recorded"
	own=$(printed $fields.stk --comm badframe)
	seen=$(cat $fields.seen)
	[ $((own + lost)) -ge "$seen" ] ||
		fail "$fields: $own recorded and $lost lost of $seen faults that ftrace saw"
	bare=$(counted $fields.stk $fault fields_missing)
	[ "$bare" -eq 0 ] || fail "$fields: $bare of $recorded faults have no fields"
	note "$fields: $recorded of $happened faults recorded"
done
