# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# What the tests of the patched kernel share.  A test runs in the test machine (busybox) as root,
# with tracing reset; it ends with 0 (passed), 77 (skipped, the reason is in $REASON) or anything
# else (failed), and its last note says in numbers what it found.

tracefs=${tracefs:-/sys/kernel/tracing}
TESTS=${TESTS:-/tests}
OUT=${OUT:-/tmp}

# The last note of a test is what the harness shows of it.
note()
{
	printf '# %s\n' "$*"
}

fail()
{
	printf 'FAILED: %s\n' "$*"
	exit 1
}

skip()
{
	printf '%s\n' "$*" >"${REASON:-/dev/null}"
	exit 77
}

# by_variant DEFAULT CHECKING: what is right in the default kernel, or where checks make everything slow.
by_variant()
{
	if [ "${VARIANT:-default}" = default ]; then
		printf '%s\n' "$1"
	else
		printf '%s\n' "$2"
	fi
}

# instance NAME BITS: a trace instance with a stack map for 2^BITS stacks (0: full stacks).
instance()
{
	dir=$tracefs/instances/$1
	mkdir "$dir" || fail "instance $1 cannot be made"
	echo 0 >"$dir/tracing_on"
	# nothing is overwritten: a full ring takes no more, and what it has is all that was asked for
	echo 0 >"$dir/options/overwrite"
	echo 1 >"$dir/options/stacktrace"
	if [ "$2" -gt 0 ]; then
		bits=/sys/module/ftrace_stackmap/parameters/bits
		before=$(cat $bits)
		if [ "$before" -ne "$2" ]; then
			echo "$2" >$bits 2>/dev/null || skip "the size of a map is not to be changed"
		fi
		echo 1 >"$dir/options/stackmap" || fail "the option is refused in an instance"
		[ "$before" -eq "$2" ] || echo "$before" >$bits
	fi
}

# stat_of DIR NAME: a number of its stack_map_stat.
stat_of()
{
	sed -n "s/^$2: \([0-9]*\).*/\1/p" "$1/stack_map_stat"
}

# statistics DIR: fails unless they add up.
statistics()
{
	awk -F '[: /%]+' '
		{ n[$1] = $2 }
		/^fallback_/ { fallbacks += $2 }
		END {
			exit !(n["drops"] == fallbacks &&
			       n["asked"] == n["successes"] + n["drops"] + n["empty"])
		}' "$1/stack_map_stat" || {
		cat "$1/stack_map_stat"
		fail "the statistics do not add up"
	}
}

# tracing_off DIR: on return all that was recorded is in the ring and counted: it is recorded with
# preemption off, so it is done on a CPU that has run a task since.  A virtual CPU may stand still in
# between for longer than it takes to read the statistics.
tracing_off()
{
	echo 0 >"$1/tracing_on"
	for cpu in $(sed -n 's/^cpu\([0-9][0-9]*\) .*/\1/p' /proc/stat); do
		taskset "$(printf %x $((1 << cpu)))" true || fail "nothing runs on CPU $cpu"
	done
}

# events DIR EVENT...: enables those that the kernel has.
events()
{
	dir=$1
	shift
	for event in "$@"; do
		[ ! -e "$dir/events/$event/enable" ] || echo 1 >"$dir/events/$event/enable"
	done
}
