#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Native events that interrupt the programs that record them: the second front records what the
# kernel skips the first for, nothing is recorded twice, and the kernel's counts of skipped calls
# say what both missed.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# Each stack of badframe leads to memory that faults when the recorder's program reads it.
n=$(scale 20000 500)
# shellcheck disable=SC2086 # an option and its value
record -a $roomy --fields native --user-stacks=fp -o faults.stk \
	-e exceptions:page_fault_kernel,exceptions:page_fault_user,kmem:kmalloc,kmem:kfree -- \
	"$PROG/badframe" "$n"
want_sum faults.stk
"$STACKONCE" info faults.stk | grep '^Native ' | grep -q page_fault_kernel ||
	fail "page_fault_kernel is not native"
"$STACKONCE" info --json faults.stk | jq -e '.totals.lost_by.unknown == 0' >/dev/null ||
	fail "events are lost for an unknown reason"
note "$(info_of faults.stk -c '[.events[] | {name, happened, recorded, lost}]')"
