# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034 # for the tests
# Shared functions of the tests of user stacks.  Sourced after lib.sh.

user=$PROG/user
ucheck=$user/ucheck

# pages_moved: prints how many page migrations the kernel has tried since boot.
pages_moved()
{
	awk '/^pgmigrate_(success|fail) / { n += $2 } END { print n + 0 }' /proc/vmstat
}
moved_before=$(pages_moved)

# has_cut FILE: pages were moved since moved_before, and a user stack ends at memory that could not
# be read, as a page is while the kernel migrates it.
has_cut()
{
	[ "$(pages_moved)" -gt "$moved_before" ] &&
		info_true "$1" '.user_stacks.ends.unreadable > 0'
}

# need_user PROGRAM PACKAGE: skips the test unless PROGRAM was built, which needs PACKAGE.
need_user()
{
	[ -x "$user/$1" ] || skip "built without $2"
}

# until_loaded FILE COMM COMMAND: prints shell code that repeats the command until the recording
# shows a whole stack of it: the tables of its files are loaded then, and its stacks need no copy.
until_loaded()
{
	cat <<-END
		until "$STACKONCE" script --comm $2 $1 2>live.err |
			grep -q ' _start+\\| runtime.goexit'; do
			$3 && sleep 0.5 || exit 1
		done
	END
}

# want_user_counts FILE: the recorder's counts of user stacks add up, by result and by end, and
# match the number of events.
want_user_counts()
{
	info_true "$1" '.user_stacks | .stacks == .hit + .new + .full + .deferred and
		.stacks == ([.ends[]] | add)' || {
		info_of "$1" .user_stacks
		fail "the user stacks' counts do not add up"
	}
	# an event that found no room in its ring has its stack counted already
	info_true "$1" '((.user_stacks | .stacks + .none + .not_recorded) - .totals.recorded)
		as $more | $more >= 0 and $more <= .totals.lost' || {
		info_of "$1" '.user_stacks, .totals'
		fail "the number of user stacks does not match the number of events"
	}
}

# want_user FILE: the accounting of a recording with user stacks adds up.
want_user()
{
	want_sum "$1"
	want_user_counts "$1"
}

# checked CHECK ARGS...: runs ucheck, which must find nothing wrong; its output is in "checked".
checked()
{
	"$ucheck" "$@" >checked || {
		cat checked
		fail "ucheck $1 found errors"
	}
}

# number KEY: prints the number of the line "KEY NUMBER" in "checked".
number()
{
	sed -n "s/^$1 //p" checked
}

# at_least WHAT NUMBER MINIMUM: a number that is missing is an error, too.
at_least()
{
	{ [ -n "$2" ] && [ "$2" -ge "$3" ]; } || {
		cat checked
		fail "$1: ${2:-none}, at least $3 expected"
	}
}

# at_most WHAT NUMBER MAXIMUM: a number that is missing is an error, too.
at_most()
{
	{ [ -n "$2" ] && [ "$2" -le "$3" ]; } || {
		cat checked
		fail "$1: ${2:-none}, at most $3 expected"
	}
}

# want_complete STACKS INCOMPLETE UNREADABLE [MAX]: every stack, or all but MAX, is complete.  While
# the kernel migrates a page, only code that may sleep can read it: one stack of a thousand may end
# there besides, one of fewer stacks, and none if no page was moved.  There are more where the CPU
# that moves a page stands still.
want_complete()
{
	at_least stacks "$1" 1
	at_least incomplete "$2" 0
	at_least unreadable "$3" 0
	at_most incomplete $(($2 - $3)) "${4:-0}"
	moved=$(($(pages_moved) - moved_before))
	[ "$moved" -gt 0 ] || at_most "unreadable while no page was moved" "$3" 0
	[ "$3" -le $(($1 > 1000 ? $1 / 1000 : 1)) ] ||
		spoilt "$3 of $1 stacks are unreadable, and $moved pages were moved"
}

# facts_of FILE: prints the lines "what KEY VALUE ..." of the file as JSON, numbers as numbers.
facts_of()
{
	awk '{ printf "{\"what\":\"%s\"", $1
		for (i = 2; i < NF; i += 2)
			printf ",\"%s\":%s", $i,
				$(i + 1) ~ /^[0-9]+$/ ? $(i + 1) : "\"" $(i + 1) "\""
		print "}" }' "$1"
}
