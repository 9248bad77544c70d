#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq and of another shell have variables of their own
# A program leaves the CPU in known ways and measures for how long: the answer agrees within 1 % and
# has the right state, function and waker.  perf, which records at the same time, agrees.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

calls=sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new
program="$user/offcpu"
perf=
perf record -q -a -k mono -m 16M -e sched:sched_switch -o perf.data -- true >perf.log 2>&1 &&
	perf=yes

# record_program: records the program, at the same time with perf where that is allowed.
record_program()
{
	# shellcheck disable=SC2086 # an option and its value
	set -- "$STACKONCE" record $roomy -q -e "$calls" -o off.stk -- \
		sh -c 'exec "$0" "$1" >truth' "$program" "$(scale 20 5)"
	[ -z "$perf" ] ||
		set -- perf record -q -a -k mono -m 16M -e sched:sched_switch -o perf.data -- "$@"
	"$@" >record.log 2>&1 || {
		cat record.log
		fail "recording ended with $?"
	}
}

# perf_lost: true if perf has lost events.
perf_lost()
{
	[ -n "$perf" ] && perf script -i perf.data --show-lost-events 2>/dev/null |
		grep -q PERF_RECORD_LOST
}

# In an emulated machine much time passes between two readings of the clock.
slack=$(scale 1 15)

# wrong_facts: prints what is wrong.  A fact is about the times off CPU of one thread with one
# function on the user stack.
wrong_facts()
{
	jq -rn --slurpfile truth truth.json --slurpfile answer tid.json --argjson slack "$slack" '
		def near($x; $y; $percent; $more):
			($x - $y | fabs) <= $y * $percent * $slack / 100 + $more;
		$truth[] | . as $t |
		[$answer[] | select(.type == "group" and .tid == $t.tid).stacks[] |
			select(any(.frames[]; .sym == $t.function))] as $all |
		# a parent of vfork may also wait for a lock, or for a page that is migrated
		[$all[] | select(.state == $t.what and ($t.what != "disk" or
			any(.frames[]; .sym // "" | startswith("wait_for_completion"))))] as $own |
		([$all[] | .blocked_ns + .queued_ns] | add // 0) as $ns |
		if ($own | length) == 0 then "\($t): never in that state"
		elif any($own[]; .ustack_end != "complete") then
			"\($t): stacks end \([$own[].ustack_end] | unique - ["complete"] | join(" "))"
		# sometimes the program is preempted between reading its run time and the work
		elif near($ns; $t.ns; if $t.what == "preempted" then 5 else 1 end;
			$t.stolen // 0) | not then
			"\($t): \($ns) ns, \($ns / $t.ns * 100) %"
		elif $t.count and ([$own[].count] | add) != $t.count then
			"\($t): \([$own[].count] | add) times, " +
				(if ([$own[].count] | add) < $t.count then "too few"
				else "too many" end)
		elif $t.what == "preempted" and any($own[]; .blocked_ns != 0 or .waker) then
			"\($t): blocked"
		elif $t.what == "sleep" and $t.waker == null and
			any($own[]; .waker.by != "interrupt") then
			"\($t): woken by \([$own[].waker])"
		elif $t.waker and any($own[]; .waker.tid != $t.waker or
			(any(.waker.frames[]; .sym == "write_here") | not)) then
			"\($t): woken by \([$own[].waker])"
		elif $t.what == "disk" and
			any($own[]; .waker.comm != "offcpu" or .waker.tid == $t.tid) then
			"\($t): woken by \([$own[].waker])"
		else empty end'
}

# between FIRST LAST FILE: prints the switches of that time.
between()
{
	awk -v first="$1" -v last="$2" '$1 + 0 >= first + 0 && $1 + 0 <= last + 0' "$3"
}

# switches_of <SWITCHES: how often each thread left a CPU or came back, its time off CPU from each
# leaving to the next return, and how often that was.  SWITCHES are "NS FROM TO".
switches_of()
{
	awk '
		{ switches[$2]++; switches[$3]++ }
		$3 in since { off[$3] += $1 - since[$3]; times[$3]++; delete since[$3] }
		$2 { since[$2] = $1 }
		END {
			for (tid in off)
				printf "%s %d %.0f %d\n", tid, switches[tid], off[tid], times[tid]
		}'
}

# apart_of <SWITCHES: of both tracers, as "perf NS FROM TO" and "own NS FROM TO".  Prints for each
# thread the sum of the ns by which they have the time of a switch apart, where that is more than
# 0.1 ms (1.5 ms if emulated): they read the clock one after the other, and a virtual CPU may stand
# still between.  Only for threads that have the same switches in both; nothing for a thread with
# more than two of these.
apart_of()
{
	awk -v slack="$slack" '
		{ for (i = 3; i <= (($3 == $4) ? 3 : 4); i++) {
			n = ++nr[$1, $i]; ns[$1, $i, n] = $2; how[$1, $i, n] = $3 " " $4
			tids[$i]
		} }
		END {
			for (tid in tids) {
				bad = (nr["perf", tid] != nr["own", tid]) ? 3 : 0
				sum = 0
				for (n = 1; n <= nr["own", tid] && bad < 3; n++) {
					if (how["perf", tid, n] != how["own", tid, n])
						bad = 3
					d = ns["own", tid, n] - ns["perf", tid, n]
					d = d < 0 ? -d : d
					if (d > 100000 * slack) {
						bad++
						sum += d
					}
				}
				if (bad < 3 && sum)
					printf "%s %.0f\n", tid, sum
			}
		}'
}

# Compares with perf's switches of the same time.  perf sometimes lacks some and reports no loss: a
# thread is compared only if perf has as many of its switches as the recording.
# compare_perf: writes a line for each thread that was compared; false: they were too few.
compare_perf()
{
	switch='^ *\([0-9]*\)\.\([0-9]*\): .*prev_pid=\([0-9]*\) .*next_pid=\([0-9]*\) .*'
	perf script -i perf.data --ns -F time,trace 2>/dev/null |
		sed -n 's/'"$switch"'/\1\2 \3 \4/p' >perf.switches
	"$STACKONCE" script --json -e sched:sched_switch off.stk |
		jq -r 'select(.type == "event") |
			"\(.ts) \(.fields.prev_pid) \(.fields.next_pid)"' >own.switches
	# shellcheck disable=SC2046 # two numbers
	set -- $(jq -r 'select(.type == "sums") | "\(.first) \(.last)"' tid.json)
	for f in perf own; do
		between "$@" $f.switches >$f.during
		switches_of <$f.during >$f.off
		sed "s/^/$f /" $f.during
	done | apart_of >apart
	jq -rn --slurpfile answer tid.json --slurpfile truth truth.json --rawfile perf perf.off \
		--rawfile own own.off --rawfile apart apart --argjson slack "$slack" '
		def rows: split("\n")[] | select(. != "") | split(" ") | map(tonumber);
		def by_tid: reduce rows as $r ({}; .["\($r[0])"] = $r[1]);
		[$truth[].tid] as $tids | ($own | by_tid) as $switches |
		($apart | by_tid) as $stood |
		$perf | rows as [$tid, $seen, $ns, $times] | select(any($tids[]; . == $tid)) |
		[$answer[] | select(.type == "group" and .tid == $tid)] as $of |
		([$of[] | .blocked_ns + .queued_ns - (.states.new.queued_ns // 0)] | add // 0)
			as $got |
		([$of[] | .count - (.states.new.count // 0)] | add // 0) as $count |
		select($seen >= $switches["\($tid)"]) |
		($stood["\($tid)"] // 0) as $more |
		if $times != $count or ($got - $ns | fabs) > $ns * $slack / 100 + $more then
			"wrong: \($tid): perf \($ns) in \($times), offcpu \($got) in \($count)"
		else "\($tid) \($ns)" end' >compared
	if grep wrong compared; then
		tid=$(sed -n 's/^wrong: \([0-9]*\):.*/\1/p' compared | head -n 1)
		for f in perf own; do
			echo "$f:"
			grep -w "$tid" $f.switches
		done
		fail "perf has different times"
	fi
	[ "$(wc -l <compared)" -ge 2 ]
}

# differs MORE
differs()
{
	head -n 20 wrong
	fail "the answer differs from what the program did${1:-}"
}

# On some machines there are tasks whose switches and wakeups no tracepoint reports: a switch back
# to the program may be missing, which the answer says, or a waker.  Time that a hypervisor steals
# from a thread is neither CPU time in the program's view nor time off CPU in the answer; the
# program knows it only in steps of a tick.  Where a virtual CPU stands still before a thread has
# left it, the timer of a short sleep expires first, and the thread stays.  Where nothing else is
# wrong, or a stack was cut, or perf has lost events or lacks switches, the test makes another
# recording, up to six.  None of this makes the time of the same function wrong in all of them, or
# hides all of its wakers in all: where four or more have all switches back, that is an error.
no_waker=': woken by \[\(null\|.*},null\)[],]'
enough='perf cannot record here'
right=
judged=0
: >doubts
for _ in 1 2 3 4 5 6; do
	moved_before=$(pages_moved)
	record_program
	: >wrong
	"$STACKONCE" offcpu --json --by state --comm offcpu off.stk >state.json ||
		fail "offcpu --by state ended with $?"
	missing=$(jq 'select(.type == "sums").no_return' state.json)
	[ -n "$missing" ] || fail "no sums: $(cat state.json)"
	[ "$missing" -eq 0 ] || {
		why='sched_switch of this kernel leaves out switches'
		continue
	}
	"$STACKONCE" offcpu --json --by tid --stacks off.stk >tid.json ||
		fail "offcpu --by tid ended with $?"
	facts_of truth >truth.json
	[ "$(wc -l <truth.json)" -eq 6 ] ||
		fail "the program did not print all facts: $(cat truth)"
	wrong_facts >wrong || fail "jq"
	judged=$((judged + 1))
	if [ ! -s wrong ]; then
		right=right.stk
		agreed=
		[ -z "$perf" ] || perf_lost || ! compare_perf || agreed=yes
		mv off.stk $right
		[ -z "$agreed" ] || enough="perf agrees on $(wc -l <compared) threads"
		{ [ -z "$perf" ] || [ -n "$agreed" ]; } && break
		enough='perf lost events or lacks switches of too many threads'
	elif grep ': stacks end ' wrong | grep -qv ' end unreadable$'; then
		differs
	elif grep -qv -e ' ns, [0-9.]* %$' -e "$no_waker" -e ' times, too few$' wrong &&
		! has_cut off.stk; then
		differs
	else
		why=$(head -n 1 wrong)
		grep -v -e ' times, too few$' -e ': woken by \[.*\(null,{\|},null\)' \
			-e ': stacks end unreadable$' wrong |
			sed 's/.*"function":"\([a-z_]*\)".*/\1/' | sort -u >>doubts
	fi
done
if [ -z "$right" ]; then
	[ $judged -lt 4 ] || ! sort doubts | uniq -c | grep "^ *$judged " ||
		differs ", in each of $judged recordings: $why"
	skip "six recordings say nothing of the answer; the last: $why"
fi
mv $right off.stk
want_user off.stk
"$STACKONCE" offcpu --json --by state off.stk >state.json || fail "offcpu --by state ended with $?"
jq -es '(.[-1] | .gaps == 0 and .unknown == 0 and .lost == 0 and
	.count == ([.states[].count] | add)) and
	.[-1].states == ([.[] | select(.type == "group") | .states] | add)' state.json >/dev/null ||
	fail "the sums do not add up: $(tail -n 1 state.json)"

# --state and --min select intervals; those that are too short are counted.
"$STACKONCE" offcpu --json --by state --state disk,stopped --min 0.005 off.stk >min.json ||
	fail "offcpu --min ended with $?"
jq -es --argjson all "$(jq -c 'select(.type == "sums").states' state.json)" '
	([.[] | select(.type == "group").state] | sort) == ["disk", "stopped"] and
	all(.[] | select(.type == "group"); .min_ns >= 5000000) and
	.[-1].count + .[-1].too_short == $all.disk.count + $all.stopped.count' \
	min.json >/dev/null ||
	fail "--state or --min selects wrong intervals: $(tail -n 1 min.json)"

note "$(wc -l <truth) facts; $enough"
