# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Shared by the tests of the patched kernel.  A test runs as root in the test machine (busybox),
# with tracing reset.  It exits with 0 (passed), 77 (skipped, the reason is in $REASON) or anything
# else (failed); its last note gives the result in numbers.  Its part on the host (NAME.after.sh)
# has fail() and note() from here.

tracefs=${tracefs:-/sys/kernel/tracing}
TESTS=${TESTS:-/tests}
OUT=${OUT:-/tmp}

# The harness prints the last note of a test.
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

# until_true TRIES US COMMAND...: tries the command so often, with a pause after each failure.
until_true()
{
	tries=$1
	pause=$2
	shift 2
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		usleep "$pause"
	done
}

# by_variant DEFAULT OTHER: the value for the default kernel, or for another, which is slower.
by_variant()
{
	if [ "${VARIANT:-default}" = default ]; then
		printf '%s\n' "$1"
	else
		printf '%s\n' "$2"
	fi
}

# instance NAME BITS: creates a trace instance with a stack map of 2^BITS stacks (0: full stacks).
instance()
{
	dir=$tracefs/instances/$1
	mkdir "$dir" || fail "instance $1 cannot be made"
	echo 0 >"$dir/tracing_on"
	# without overwriting, the ring buffer has every stack that the map was asked for
	echo 0 >"$dir/options/overwrite"
	echo 1 >"$dir/options/stacktrace"
	if [ "$2" -gt 0 ]; then
		bits=/sys/module/ftrace_stackmap/parameters/bits
		before=$(cat $bits)
		if [ "$before" -ne "$2" ]; then
			echo "$2" >$bits || fail "the size of the map cannot be changed"
		fi
		echo 1 >"$dir/options/stackmap" || fail "the option is refused in an instance"
		[ "$before" -eq "$2" ] || echo "$before" >$bits
	fi
}

# stat_of DIR NAME: a counter in its stack_map_stat.
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

# ids_of TRACE...: the stack ids of their events
ids_of()
{
	sed -n -e 's/.*<stack_id \([0-9]*\) on \([0-9]*\).*>$/\1 \2/p' \
		-e 's/.*<stack_id \([0-9]*\).*>$/\1/p' \
		"$@" | tr ' ' '\n' | grep -v '^0$'
}

# ids_known DIR TRACE: fails unless it has ids and the map of DIR has all of them.
ids_known()
{
	! grep -q 'stale>' "$2" || fail "a stale id in $2"
	ids_of "$2" | sort -u >"$OUT/ids"
	[ -s "$OUT/ids" ] || fail "no ids in $2"
	sed -n 's/^stack_id \([0-9]*\) .*/\1/p' "$1/stack_map" | sort -u >"$OUT/ids-known"
	unknown=$(sort "$OUT/ids-known" "$OUT/ids-known" "$OUT/ids" | uniq -u | wc -l)
	[ "$unknown" -eq 0 ] || fail "$unknown of $(wc -l <"$OUT/ids") ids of $2 are not in the map"
}

# tracing_off DIR: on return everything recorded is in the ring buffer and counted.  Recording runs
# with preemption disabled, so it has finished on each CPU that has run a task since.  A virtual CPU
# may be stopped in the middle of it for longer than it takes to read the statistics.
tracing_off()
{
	echo 0 >"$1/tracing_on"
	for cpu in $(sed -n 's/^cpu\([0-9][0-9]*\) .*/\1/p' /proc/stat); do
		taskset "$(printf %x $((1 << cpu)))" true || fail "cannot run on CPU $cpu"
	done
}

# goes_off DIR: switches tracing off; fails if it is on again, as a snapshot may take it back.
goes_off()
{
	echo 0 >"$1/tracing_on"
	[ "$(cat "$1/tracing_on")" = 0 ]
}

# events DIR EVENT...: enables the events that the kernel has.
events()
{
	dir=$1
	shift
	for event in "$@"; do
		[ ! -e "$dir/events/$event/enable" ] || echo 1 >"$dir/events/$event/enable"
	done
}

# dump_ring: dumps the top level ring buffer on the console, as on a panic; the kernel log has only
# that, and is in $OUT/dmesg.
dump_ring()
{
	dmesg -c >/dev/null
	echo 1 >/proc/sys/kernel/sysrq
	echo z >/proc/sysrq-trigger
	sleep 1
	dmesg >"$OUT/dmesg"
}
