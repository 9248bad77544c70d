#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Bytes of ring buffer for an event with its stack, with and without the option, and bytes of memory
# for a stack in the map.
# needs: variant=default smp=2 accel=single mem=1024
# timeout: 300
. "$TESTS/lib.sh"

instance ids 14
instance full 0
summary=

# measure NAME MOST COMMAND...: measures what both instances record of the command.
measure()
{
	name=$1
	most=$2
	shift 2
	for dir in "$tracefs/instances/ids" "$tracefs/instances/full"; do
		echo >"$dir/trace"
		echo 1 >"$dir/tracing_on"
	done
	"$@" >/dev/null
	for dir in "$tracefs/instances/ids" "$tracefs/instances/full"; do
		echo 0 >"$dir/tracing_on"
	done
	# shellcheck disable=SC2046 # four numbers each
	set -- $("$TESTS/sizes" "$tracefs/instances/ids") \
		$("$TESTS/sizes" "$tracefs/instances/full")
	[ "$1" -gt 100 ] || fail "$name: only $1 events"
	# Another CPU may have been between an event and its stack when tracing was switched.
	if [ "$3" -le $(($1 - SMP)) ] || [ "$3" -ge $(($1 + SMP)) ]; then
		fail "$name: $1 events, $3 stacks"
	fi
	ids=$((($2 * 10 + $1 / 2) / $1))
	full=$((($6 * 10 + $5 / 2) / $5))
	echo "$name: $1 events: $((ids / 10)).$((ids % 10)) bytes with ids," \
		"$((full / 10)).$((full % 10)) with stacks; at most $most"
	summary="$summary $name $((ids / 10)).$((ids % 10))/$((full / 10)).$((full % 10))"
	[ $ids -le $((most * 10)) ] || fail "$name: more than $most bytes an event"
	for dir in "$tracefs/instances/ids" "$tracefs/instances/full"; do
		echo 0 >"$dir/events/enable"
	done
}

# only EVENT...: enables them for this shell and its children
only()
{
	for name in ids full; do
		dir=$tracefs/instances/$name
		echo 1 >"$dir/options/event-fork"
		echo $$ >"$dir/set_event_pid"
		for event in "$@"; do
			echo 1 >"$dir/events/$event/enable"
		done
	done
}

only syscalls/sys_enter_getppid
measure getppid 36 "$TESTS/load" getppid 5000
only exceptions/page_fault_user
measure fault 60 "$TESTS/load" fault 5000
only sched/sched_switch sched/sched_waking sched/sched_wakeup
measure sched 75 "$TESTS/load" pingpong 1000

for name in ids full; do
	dir=$tracefs/instances/$name
	echo >"$dir/set_event_pid"
	echo 'vfs_read vfs_write do_sys_openat2 fput kfree' >"$dir/set_ftrace_filter"
	echo function >"$dir/current_tracer" || fail "no function tracer"
	echo 1 >"$dir/options/func_stack_trace"
done
measure function 44 ls -lR "$tracefs/events/sched"
for name in ids full; do
	echo nop >"$tracefs/instances/$name/current_tracer"
done

# The size of a stack of 13 frames: its record, and its share of the table.
dir=$tracefs/instances/ids
each=$(awk -F '[: /%]+' '
	FILENAME ~ /stat$/ { n[$1] = $2; of[$1] = $3; next }
	/^  \[/ { frames++ }
	END {
		record = (n["pool"] - frames * 8) / n["entries"]
		printf "%d", record + 13 * 8 + 8 * n["table_size"] / of["entries"] + 2.5
	}' "$dir/stack_map_stat" "$dir/stack_map")
cat "$dir/stack_map_stat"
[ "$each" -le 160 ] || fail "$each bytes for a stack of 13 frames"
note "bytes per event, ids/stacks:$summary; $each bytes for a stack of 13 frames"
