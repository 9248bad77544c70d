#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The records of native events are compared with the kernel's while a recording runs: the first 64
# of each type, and later some.  After a difference the kernel fills the records of the event, the
# recording says what is not verified, and no event is missing.  Others that observe the same events
# do not disturb the comparison.
# timeout: 2400
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

types=kmem:kfree,kmem:mm_page_free,sched:sched_switch,sched:sched_process_exit
types=$types,exceptions:page_fault_user
calls=raw_syscalls:sys_enter,raw_syscalls:sys_exit,syscalls:sys_enter_getppid,syscalls:sys_exit_read
frequent=$(echo "$types,$calls" | tr , '\n' | grep -v sched_process_exit)

n=$(scale 40 10) # times that each page is read
# A unique name, because a test beside this one may run the same program.
faults=pf$$
cp "$PROG/faults" $faults || exit 1
cat >load <<END
"$PROG/pingpong" $(scale 5000 300) >/dev/null
./$faults $((512 * n)) >/dev/null
for i in 1 2 3 4 5; do
	(true; false) | cat
done
END

# compared FILE EVENT VERDICT: prints how many records were compared with this result.
compared()
{
	info_of "$1" ".events[] | select(.name == \"$2\") | .fields_compared.$3"
}

# want_compared FILE EVENT...: 64 records of each agreed
want_compared()
{
	file=$1
	shift
	for e; do
		[ "$(compared "$file" "$e" agreed)" -ge 63 ] ||
			fail "$e: $(info_of "$file" -c ".events[] | select(.name == \"$e\")")"
		[ "$(compared "$file" "$e" differed)" -eq 0 ] || fail "$e: records differ"
	done
}

# record_wrong 'EVENT MS' ARGS...: a recording in which the records of EVENT become wrong.
record_wrong()
{
	wrong=$1
	shift
	rm -f taken
	WRONG_ROW=$wrong "$PROG/wrong_row" record "$@" >record.out 2>record.err || {
		cat record.err
		fail "the recording of a wrong $wrong failed"
	}
}

# want_told FILE EVENT FIELD: recording and recorder say that the records of EVENT were wrong.
want_told()
{
	want_sum "$1"
	[ "$(compared "$1" "$2" differed)" -ge 1 ] ||
		fail "no difference was found: $("$STACKONCE" info "$1")"
	"$STACKONCE" info "$1" >text || fail "info ended with $?"
	grep -q "^Wrong  *$2 $3 was .* in the kernel's record and .* in the recorder's" text ||
		fail "info does not say what differed: $(cat text)"
	grep -q "record of $2 differed from the kernel's: $3 was " record.err ||
		fail "the recorder does not warn: $(cat record.err)"
}

# want_found FILE EVENT FIELD: the same, and that EVENT has taken the old way.
want_found()
{
	want_told "$@"
	"$STACKONCE" info --json "$1" >json
	want_json info json
	# the kernel fills the records of this event, and of no other, from then on
	# shellcheck disable=SC2016 # a jq program
	info_true "$1" --arg e "$2" '.meta["fields.kernel"] | split("\n") |
		map(select(. != "") | split(" ")[0]) == [$e]' || fail "not the old way: $(cat text)"
	[ "$(info_of "$1" '.totals.lost')" -eq 0 ] || note "$(info_of "$1" -c .totals.lost_by)"
}

# want_pages FILE: the load's page faults, which read each of 512 pages $n times
want_pages()
{
	"$STACKONCE" script --json -e exceptions:page_fault_user "$1" 2>/dev/null |
		jq -r --arg comm $faults 'select(.comm == $comm) | .fields.address |
			if type == "string" then .[:-3] else . / 4096 | floor end' |
		sort | uniq -c | awk -v n="$n" '$1 == n { right++ } $1 > n { more++ }
			END { print right + 0, more + 0; exit right != 512 || more }' >pages ||
		fail "$1: pages read $n times, and more often: $(cat pages); lost faults:" \
			"$(info_of "$1" -c '.events[] |
				select(.name == "exceptions:page_fault_user").lost_by')"
}

# Each event type is compared 64 times, if it happens that often.
# shellcheck disable=SC2086 # an option and its value
record -a $roomy --fields native -o right.stk -e "$types,$calls" -- sh load
want_sum right.stk
# shellcheck disable=SC2086 # words
want_compared right.stk $frequent
rare=$(compared right.stk sched:sched_process_exit agreed)
[ "$rare" -ge 10 ] || fail "$rare records of sched_process_exit"
[ "$rare" -ge 63 ] || "$STACKONCE" info right.stk | grep -q "fields: $rare of 64 compared" ||
	fail "info does not say how many were compared"
want_pages right.stk

# Nothing is compared before the recording begins.
# shellcheck disable=SC2086
record -a -D 600000 --fields native --no-user-stacks -o none.stk -e "$types,$calls" -- sh load
info_true none.stk '[.events[].fields_compared | values | .agreed + .differed] | (add // 0) == 0' ||
	fail "records were compared before: $("$STACKONCE" info none.stk)"

# The order of others on the same tracepoints does not matter.
# shellcheck disable=SC2086
record_bg -a $roomy --fields kernel --no-user-stacks -o other.stk -e "$types,$calls"
# shellcheck disable=SC2086
record -a $roomy --fields native --no-user-stacks -o beside.stk -e "$types,$calls" -- sh load
stop_recorder
want_sum other.stk
want_sum beside.stk
# shellcheck disable=SC2086
want_compared beside.stk $frequent
want_pages beside.stk
want_pages other.stk

cat >until_taken <<'END'
end=$(($(date +%s) + 600))
until [ -e taken ] || [ "$(date +%s)" -gt "$end" ]; do
	"$@" >/dev/null
done
END

# A wrong row is found with the first event, and then the kernel fills the records.
# shellcheck disable=SC2086
record_wrong 'page_fault_user 0' -a $roomy --fields native --no-user-stacks -o first.stk \
	-e "$types" -- sh -c 'sh load; sh until_taken sleep 0.1'
want_found first.stk exceptions:page_fault_user address
want_pages first.stk

# So it is in a recording that ends before anybody looks.
export WRONG_UNSEEN=1
# shellcheck disable=SC2086
record_wrong 'page_fault_user 0' $roomy --fields native --no-user-stacks -o unseen.stk \
	-e exceptions:page_fault_user -- true
unset WRONG_UNSEEN
want_told unseen.stk exceptions:page_fault_user address

# In an emulated machine attaching takes long, and the next window comes a thousand times later.
if [ -n "${LIVE_VM:-}" ]; then
	note "$(info_of first.stk -c '.meta["fields.unverified"]'), no windows"
	exit 0
fi

# One that becomes wrong later is found in one of the windows.  The first one comes after half a
# minute, and here after three seconds, unless all is to be tested.  Windows are short, and the
# longer one takes, the later is the next, so the load has few gaps.
wrong_after=10000
[ -n "${LIVE_ALL:-}" ] || {
	wrong_after=1500
	export WRONG_WINDOW=3000
}
# shellcheck disable=SC2086
record_wrong "page_fault_user $wrong_after" -a $roomy --fields native --no-user-stacks \
	-o later.stk -e exceptions:page_fault_user -- sh until_taken "$PROG/faults" 2000000
want_found later.stk exceptions:page_fault_user address
[ "$(compared later.stk exceptions:page_fault_user agreed)" -ge 64 ] ||
	fail "it was wrong from the start: $("$STACKONCE" info later.stk)"
info_true later.stk '.meta["fields.unverified"] | split(" ")[1] | tonumber > 100' ||
	fail "not all unverified events are counted: $(info_of later.stk -c .meta)"
note "$(info_of first.stk -c '.meta["fields.unverified"]') $(info_of later.stk -c \
	'.meta["fields.unverified"]')"
