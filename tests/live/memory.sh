#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# record -v prints how the kernel memory is divided when recording begins.  The rings have the size
# that was printed, and the parts add up to the memory that the kernel accounts.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

size()
{
	sed -n "s/^$1 //p" sizes
}

online=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)
# check_case OPTION: records with that option.
check_case()
{
	"$STACKONCE" record -v --memory 64M "$1" -e sched:sched_switch -o memory.stk -- \
		"$PROG/getppid" 1000 >out 2>err || fail "record $1 failed: $(cat err)"
	grep 'memory:' err
	for part in 'a budget of 67.11 MB' 'for rings, ' 'for the stack map, ' \
		'for everything else'; do
		grep -q "^stackonce: memory: .*$part" err || fail "record -v does not print '$part'"
	done
	grep -q 'loaded in' err || fail "record -v does not print when the programs are loaded"
	sed -n '/loaded in/,$p' err | grep -q 'stackonce: memory:' &&
		fail "the memory is printed after the start"
	info_of memory.stk -r '.meta | to_entries[] | select(.key | startswith("limits.") or
		startswith("cost.kernel_map")) | "\(.key) \(.value)"' >sizes
	[ "$(size limits.memory)" -eq $((64 << 20)) ] ||
		fail "the budget is $(size limits.memory)"
	rings=$((online * $(size limits.buffer_size)))
	[ "$rings" -le $((32 << 20)) ] || [ "$(size limits.buffer_size)" -eq $((256 << 10)) ] ||
		fail "rings of $rings bytes for a budget of 64M"
	# "8.39 MB for everything else": in KB
	else=$(sed -n 's/^stackonce: memory: \([0-9.]*\) MB for everything else$/\1/p' err |
		awk '{ print int($1 * 1000) }')
	map=$(($(size limits.stack_pool) + 16 * (1 << $(size limits.stack_map_bits))))
	planned=$((else + (rings + map) / 1000))
	accounted=$(($(size cost.kernel_map_bytes) / 1000))
	note "$1: $planned KB planned, $accounted KB accounted by the kernel"
	{ [ "$accounted" -le $((planned * 11 / 10)) ] &&
		[ "$planned" -le $((accounted * 11 / 10)) ]; } ||
		fail "the parts do not add up to the memory that the kernel accounts"
}

check_case --no-user-stacks
check_case --user-stacks
