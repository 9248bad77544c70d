#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Native events that interrupt the programs that record them: the second front records what the
# kernel skips the first for, nothing is recorded twice, and the kernel's counts of skipped calls
# say what both missed.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# While a task replaces its program, memory is freed, and the recorder's programs fault where they
# read code and stacks that are not mapped.
runs=$(scale 300 20)
cat >load.sh <<EOF
i=0
while [ \$i -lt $runs ]; do
	i=\$((i + 1))
	"$PROG/getppid" 1 >/dev/null
done
EOF
fault=exceptions:page_fault_kernel
types=$fault,exceptions:page_fault_user,kmem:kmalloc,kmem:kfree
# shellcheck disable=SC2086 # an option and its value
record -a $roomy --fields native --user-stacks=fp -o faults.stk -e $types -- sh load.sh
want_sum faults.stk
"$STACKONCE" info faults.stk | grep '^Native ' | grep -q page_fault_kernel ||
	fail "page_fault_kernel is not native"
"$STACKONCE" info --json faults.stk | jq -e '.totals.lost_by.unknown == 0' >/dev/null ||
	fail "events are lost for an unknown reason"
# the kernel skips the first front for a fault in it
"$STACKONCE" script -e $fault faults.stk >script || fail "script ended with $?"
second=$(awk '/page_fault_kernel:/ { n += runs > 1; runs = 0 }
	/^ => bpf_trace_run/ { runs++ }
	END { print n + (runs > 1) }' script)
[ "$second" -ge "$runs" ] || fail "the second front has recorded $second faults in $runs programs"
[ "$(counted faults.stk $fault lost_by.nested)" -gt 0 ] || fail "no fault was missed by both"
note "$second of the second front"
note "$(info_of faults.stk -c '[.events[] | {name, happened, recorded, lost}]')"
# the numbers of the other way, which are not to be compared: the faults are not the same ones
# shellcheck disable=SC2086
record -a $roomy --fields kernel --user-stacks=fp -o kernel.stk -e $types -- sh load.sh
want_sum kernel.stk
note "the kernel's: $(info_of kernel.stk -c '[.events[] | {name, happened, recorded, lost}]')"
