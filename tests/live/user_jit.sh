#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Code that is generated at run time, with all the ways to find its frames and its names.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

calls=$(scale 500 100)
pause=$(scale 1500 6000) # milliseconds, in which the recorder looks at all code
# the dump and the map of the program
restore()
{
	[ ! -s pid ] || rm -f "/tmp/jit-$(cat pid).dump" "/tmp/perf-$(cat pid).map"
}

# jit PAUSE HOW...: records the program, and writes a line "COUNT CALL END FRAMES" for each system
# call and stack to "stacks", frames from the innermost of the program to work(), guesses with a
# question mark.
jit()
{
	# shellcheck disable=SC2086 # words
	record $roomy -e syscalls:sys_enter_getppid -e syscalls:sys_enter_getuid \
		-e syscalls:sys_enter_getgid -e syscalls:sys_enter_getpgrp -o jit.stk -- \
		sh -c 'echo $$ >pid; exec "$@"' sh "$user/ujit" "$calls" "$@"
	want_user jit.stk
	"$STACKONCE" script --json --stacks --comm ujit jit.stk >events
	jq -rn 'reduce inputs as $r ({}; if $r.type == "stack" then
			.stacks[$r.id | tostring] = $r.end + " " + ([$r.frames[] |
				(if .guessed then "?" else "" end) + (.sym // "-")] | .[1:] |
				.[:(index("work") // index("?work") // length) + 1] | join(" "))
		else .lines += [($r.event | sub(".*sys_enter_"; "")) + " " +
			.stacks[$r.ustack | tostring]] end) | .lines[]' events |
		sort | uniq -c | sort -rn >stacks
	restore
}

# most CALL END FRAMES: all but a few stacks of the call are these.  The first ones may pass before
# the recorder has seen the process.
most()
{
	n=$(awk -v want="$*" '{ c = $1; sub(/^ *[0-9]+ /, ""); if ($0 == want) n += c }
		END { print n + 0 }' stacks)
	[ "$n" -ge $((calls - calls / 20)) ] || {
		cat stacks
		fail "$n of $calls stacks are: $*"
	}
}

jit "$pause" table path fp none
most getppid complete "call_getppid jit_table work"
most getuid complete "call_getuid jit_path work"
most getgid fallback "call_getgid jit_fp ?work"
most getpgrp no_table "call_getpgrp jit_none"
jit "$pause" twice
most getppid complete "call_getppid jit_first work"
most getuid complete "call_getuid jit_second work"
jit "$pause" move
most getpgrp complete "call_getpgrp jit_moved work"
most getppid complete "call_getppid jit_moved work"
most getuid complete "call_getuid jit_other work"
# The dump is written at the end: names are right, but the tables come too late for most stacks.
jit 0 late
awk -v least=$((calls - calls / 20)) '
	/ getppid .*jit_second/ || / getuid .*jit_first/ { wrong = 1 }
	/ getppid .* call_getppid jit_first/ { first += $1 }
	/ getuid .* call_getuid jit_second/ { second += $1 }
	END { exit wrong || first < least || second < least }' stacks || {
	cat stacks
	fail "code that was replaced has a wrong name, or none"
}
"$STACKONCE" stacks --user jit.stk | grep -B 1 jit_first | grep -q call_getuid &&
	fail "there is a stack that never was"
note "tables, ways to a return, frame pointers, replaced and moved code"
