#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Reading with a filter selects the same as recording with it: two recorders at the same time, one
# with the filter, see the calls of one program.  The kernel fills the records of one of them.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

n=$(scale 2000 300)
# A unique name, because other processes make system calls, too.
comm=fr$$
cp "$PROG/getppid" $comm

# calls FILE [OPTION...]: what the program did, without the times, which each recorder takes itself.
calls()
{
	"$STACKONCE" script --json --comm $comm "$@" | jq -c '[.event, .cpu, .tid, .fields]'
}

all=native some=kernel
lost=
for expr in "id == 110" "id != 110 && comm == \"$comm\"" "!(id & 0x6e) || comm ~ \"fr*\"" \
	"CPU == 0 && id <= 110"; do
	rm -f all.stk some.stk # record_bg waits for a new one
	# shellcheck disable=SC2086 # an option and its value
	record_bg -a $roomy -o all.stk --fields $all -e raw_syscalls:sys_enter
	first=$recorder
	# shellcheck disable=SC2086
	record_bg -a $roomy -o some.stk --fields $some -e raw_syscalls:sys_enter --filter "$expr"
	./$comm "$n" 0 >/dev/null
	stop_recorder
	recorder=$first
	stop_recorder
	# What is lost at the edge of a recording is not of the program, which runs in between.
	for f in all some; do
		[ "$(counted $f.stk raw_syscalls:sys_enter lost)" -eq \
			"$(edge_of $f.stk raw_syscalls:sys_enter)" ] || lost=yes
	done
	[ -z "$lost" ] || skip "events were lost"
	calls some.stk >want
	calls all.stk --filter "$expr" >got
	[ -s want ] || fail "$expr: nothing was recorded"
	cmp -s want got || fail "$expr: $(wc -l <want) events recorded, $(wc -l <got) read"
	swap=$all all=$some some=$swap
done
note "$n calls"
