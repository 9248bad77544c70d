# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034,SC2154,SC2015 # prog, $tracefs
# For the tests of user stacks (user_*.sh): an instance that records them, and checks of its
# contents.
# shellcheck source=kernel/tests/lib.sh
. "$TESTS/lib.sh"

prog=$TESTS/user_prog

# user_instance NAME: creates an instance with kernel and user stacks by id; sets $i to it.
user_instance()
{
	[ -e "$tracefs/user_stack_map" ] || skip "this kernel has no user_stack_map"
	i=$tracefs/instances/$1
	mkdir "$i" || fail "mkdir $i"
	echo 1 >"$i/options/stackmap" && echo 1 >"$i/options/userstacktrace" &&
		echo 1 >"$i/options/stacktrace" || fail "options of $1"
	echo 0 >"$i/trace"
}

# user_pair EVENTS COMMAND ARG...: enables the events in $i and runs user_prog twice with the
# command, in the background; sets $one and $two to their PIDs.  They print to $OUT/said-one and
# $OUT/said-two.
user_pair()
{
	# shellcheck disable=SC2086 # a list of words
	events "$i" $1
	shift
	echo 1 >"$i/tracing_on"
	"$prog" "$@" >"$OUT/said-one" &
	one=$!
	"$prog" "$@" >"$OUT/said-two" &
	two=$!
}

# user_stat_of NAME: a counter of the user stacks of $i.
user_stat_of()
{
	sed -n "s/^$1: \([0-9]*\).*/\1/p" "$i/user_stack_map_stat"
}

nr_read=0 nr_futex=202 nr_nanosleep=230 # clock_nanosleep

# until_call PID NUMBER: waits until the process waits in that system call.
until_call()
{
	until_true 1200 50000 grep -q "^$2 " "/proc/$1/syscall" ||
		fail "$1 is not in system call $2"
}

# threads_in PID NUMBER: the threads of the process that wait in that system call
threads_in()
{
	grep -ls "^$2 " /proc/"$1"/task/*/syscall | cut -d/ -f5
}

# is_over PID: has the process ended?
is_over()
{
	! grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# getppid_on, getppid_off: switch the event at the end of the call chains.
getppid_on()
{
	echo 1 >"$i/events/syscalls/sys_enter_getppid/enable"
	echo 1 >"$i/tracing_on"
}

getppid_off()
{
	echo 0 >"$i/events/syscalls/sys_enter_getppid/enable"
}

# frames_of TRACE: "PID COOKIE frame OFFSET HASH" for the user stacks of getppid, "PID COOKIE none"
# for a stack without frames.
frames_of()
{
	awk '
		function pid_of(field) { sub(/.*-/, "", field); return field }
		/sys_getppid\(/ { asked = pid_of($1) }
		asked != "" && /<stack_id .*cookie=/ && pid_of($1) == asked {
			cookie = $0; sub(/.*cookie=/, "", cookie); sub(/[ >].*/, "", cookie)
			want[cookie] = asked; asked = ""
		}
		/<user stack unwind>/ { pid = pid_of($1); next }
		/^cookie=/ {
			if (open && !n && (open in want)) print want[open], open, "none"
			open = substr($0, 8); n = 0; next
		}
		/^ => +</ && open != "" {
			n++
			if (open in want) {
				o = $2; gsub(/[<>]/, "", o); print want[open], open, "frame", o, $4
			}
			next
		}
		open != "" { if (!n && (open in want)) print want[open], open, "none"; open = "" }
		END { if (open != "" && !n && (open in want)) print want[open], open, "none" }
	' "$1"
}

# has_stack PID TRACE: is there a user stack of that task?
has_stack()
{
	grep -q -- "-$1 .*<user stack unwind>" "$2"
}

# first_frames FRAMES: the frames of its first stack, as user_prog prints them.
first_frames()
{
	awk 'NR == 1 { c = $2 } $2 == c && $3 == "frame" { print "frame", $4 }' "$1"
}

# path_of HASH TRACE: its "PATH BUILD_ID" in the file_map events.
path_of()
{
	sed -n "s/.*file_map: hash=$1 path=\\([^ ]*\\) build_id=\\(.*\\)/\\1 \\2/p" "$2"
}

# unknown_files TRACE PATHS...: writes the files of frames in TRACE to $OUT/used, and those of them
# that PATHS, which are traces or copies of file_map, do not name to $OUT/unknown.
unknown_files()
{
	sed -n 's/^ => *<[0-9a-f]*> : \(0x[0-9a-f]*\).*/\1/p' "$1" | grep -v '^0x00000000$' |
		sort -u >"$OUT/used"
	[ -s "$OUT/used" ] || fail "no user frames in $1"
	shift
	cat "$@" | sed -n 's/.*hash=\(0x[0-9a-f]*\) path=.*/\1/p' | sort -u >"$OUT/files"
	sort "$OUT/files" "$OUT/files" "$OUT/used" | uniq -u >"$OUT/unknown"
}

# paths_of TRACE: fails if a frame's file has no file_map event there.
paths_of()
{
	unknown_files "$1" "$1"
	[ ! -s "$OUT/unknown" ] ||
		fail "$(wc -l <"$OUT/unknown") of $(wc -l <"$OUT/used") files have no event in $1"
}

# compare_chain SAID FRAMES: the first frames must be those that the program printed.
compare_chain()
{
	grep '^frame ' "$1" >"$OUT/truth"
	first_frames "$2" | head -n "$(wc -l <"$OUT/truth")" >"$OUT/found"
	cmp -s "$OUT/truth" "$OUT/found" || {
		echo "truth:" && cat "$OUT/truth"
		echo "found:" && cat "$OUT/found"
		fail "frames differ ($1)"
	}
}

# check_cookies TRACE: each cookie of a stack event must have one user stack, except for the last
# entry of a task, which may still be in the kernel; no user stack may occur twice.  Prints its
# counters.
check_cookies()
{
	awk '
		function pid_of(field) { sub(/.*-/, "", field); return field }
		/<stack_id .*cookie=/ {
			c = $0; sub(/.*cookie=/, "", c); sub(/[ >].*/, "", c)
			if (!(c in owner)) cookies++
			else if (owner[c] != pid_of($1)) {
				print "cookie of two tasks: " c
				bad = 1
			}
			owner[c] = pid_of($1); last[pid_of($1)] = c; events++
		}
		/^cookie=/ {
			c = substr($0, 8); stacks++
			if (c in got) { print "two user stacks: " c; bad = 1 }
			got[c] = 1
			if (!(c in owner)) orphans++
		}
		/<stack_id [0-9]*( on [0-9]*)?>/ { plain++ }
		END {
			for (c in owner)
				if (!(c in got)) {
					if (last[owner[c]] == c) open++
					else {
						print "no user stack: " c " of " owner[c]
						if (++missing > 20)
							break
					}
				}
			printf "%d events, %d cookies, %d user stacks, ",
				events, cookies, stacks
			printf "%d open, %d missing, %d orphans, %d plain\n",
				open, missing, orphans, plain
			exit bad || missing || !stacks
		}
	' "$1"
}
