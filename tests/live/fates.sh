#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A program creates two thousand children and knows how each of them ends: stackonce lifecycle
# reports all of them exactly.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tool jq
cd "$work" || exit 1

# zombies_in_proc: prints the processes that are zombies now, in lines "PID START-TIME".
zombies_in_proc()
{
	for f in /proc/[0-9]*/stat; do
		s=$(cat "$f" 2>/dev/null) || continue
		pid=${s%% *}
		# shellcheck disable=SC2086 # numbers and a letter
		set -- ${s##*) }
		[ "$1" != Z ] || echo "$pid ${20}"
	done
}

# in_both A B: prints the lines of B that are in A, only_in A B: those of A that are not in B.
in_both()
{
	awk 'FILENAME == ARGV[1] { a[$0]; next } $0 in a' "$1" "$2"
}

only_in()
{
	awk 'FILENAME == ARGV[1] { a[$0]; next } !($0 in a)' "$2" "$1"
}

# await COMMAND...: waits until the command succeeds; the program must not end before that.
await()
{
	while_runs "$fates" "$@" || fail "the program ended: $(cat fates.log)"
}

# events_of PID: prints the recorded events of that task, and those of other tasks that name it.
events_of()
{
	echo "late: $(info_of fates.stk .late); the events of $1:"
	"$STACKONCE" script --ns --no-stacks --no-header fates.stk |
		grep -wE "$1|0x$(printf %x "$1")" | cut -c 1-160 | tail -n 300
}

mkfifo go
"$PROG/fates" known.json ready go >fates.log 2>&1 &
fates=$!
test_pids="$test_pids $fates"
await [ -e ready ]
# ftrace records the frees, too: RCU may free a task while a thread runs that hides its events from
# BPF.  A process whose free was hidden is "gone" once its PID is reused.
need_tracefs
new_instance
follow_init
echo mono >"$instance/trace_clock"
scale 16384 4096 >"$instance/buffer_size_kb"
echo 1 >"$instance/events/sched/sched_process_free/enable"
# shellcheck disable=SC2086 # an option and its value
record_bg -a -o fates.stk --preset lifecycle $roomy
: >go
await [ -s fates.log ]
zombies_in_proc >zombies.before
stop_recorder
zombies_in_proc >zombies.after
: >go
echo 0 >"$instance/tracing_on"
grep -w sched_process_free "$instance/trace" >frees
! grep -q '^overrun: [1-9]' "$instance"/per_cpu/cpu*/stats || fail "ftrace has lost frees"
seen_by_bpf <frees >frees.seen
free='.* \([0-9]*\)\.\([0-9]*\): sched_process_free: .* pid=\([0-9]*\) .*'
only_in frees frees.seen | sed -n 's/'"$free"'/{"pid":\3,"ts":\1\2000}/p' >hidden
want_sum fates.stk
missing_from fates.stk >lost
# Tasks are freed in interrupts; the record of such a nested event is built from its arguments.
info_of fates.stk -r '.events[] | select((.fields_missing // 0) > 0) |
	"\(.name): fields missing in \(.fields_missing)"' >>lost
[ ! -s lost ] || fail "events were lost, the answer cannot be exact: $(cat lost)"

# A late event is out of order, so the answer is not exact.  No machine can rule that out: the test
# makes a second recording.
late=$(info_of fates.stk .late)
[ "$late" -eq 0 ] || [ -n "${FATES_AGAIN:-}" ] || {
	note "$late events came late: trying once more"
	wait "$fates" || :
	rmdir "$instance" "$init_instance" # the PID stays, and so do the names of instances
	cd / || exit 1
	rm -rf "$work"
	FATES_AGAIN=1 exec sh "$0"
}

"$STACKONCE" lifecycle --json --top 0 fates.stk >answer.json || fail "lifecycle ended with $?"
jq -c 'select(.type == "summary")' answer.json

# The zombies are those in /proc at the end.  Other ones on this machine may come and go meanwhile.
jq 'select(.type == "process" and .state == "zombie") | .pid' answer.json >zombies.answer
in_both zombies.before zombies.after | cut -d ' ' -f 1 >lasting
cut -d ' ' -f 1 zombies.before >zombies.pids
only_in lasting zombies.answer >missed
[ ! -s missed ] || fail "lifecycle misses zombies: $(tr '\n' ' ' <missed)"
jq 'select(.type == "process" and .state == "zombie" and .comm == "fates") | .pid' \
	answer.json >mine
only_in mine zombies.pids >invented
[ ! -s invented ] || fail "lifecycle prints zombies that do not exist: $(tr '\n' ' ' <invented)"
zombies=$(in_both zombies.answer zombies.pids | wc -l)
[ "$zombies" -ge 51 ] || fail "lifecycle prints $zombies zombies of at least 51"

# Compares each known child with the process of that PID that was forked at that time.
cat >compare.jq <<'JQ'
def inside($a; $b): . != null and . >= $a and . <= $b;
def fate($k):
	if $k.zombie and $k.before and .how == "unknown" then [-1, -1]
	elif .how == "exit" then [.code, -1]
	elif .how == "signal" then [-1, .signal]
	else [] end;
($answer | map(select(.type == "process")) | group_by(.pid) |
	map({key: (.[0].pid | tostring), value: .}) | from_entries) as $by_pid |
.[] | . as $k | ($by_pid[.pid | tostring] // []) as $same |
(if .before then $same | map(select(.existed)) else
	$same | map(select(.fork_ts | inside($k.fork0; $k.fork1))) end) as $found |
def wrong($what; $is):
	"\($k.kind) \($k.pid): \($what): \($is) in \($found[0] | tostring | .[:500])";
if ($found | length) != 1 then "\(.kind) \(.pid): printed \($found | length) times"
else $found[0] |
(if fate($k) != [$k.code, $k.sig] then wrong("fate"; fate($k)) else empty end),
(if .uncertain then wrong("uncertain"; true) else empty end),
(if .parent != $k.parent then wrong("parent"; .parent) else empty end),
(if .orphan != $k.orphan then wrong("orphan"; .orphan) else empty end),
(if .threads != $k.threads then wrong("threads"; .threads) else empty end),
(if .execs != $k.execs then wrong("execs"; .execs) else empty end),
(if .exit_ts == null and ($k.zombie and $k.before | not) then wrong("exit"; null)
	else empty end),
(if $k.zombie then
	(if .state != "zombie" or .reap_ts != null or .reap_between != null then
		wrong("state"; .state) else empty end)
elif $k.with == "" then
	(if .reaped_with != null or .reap_ts != null or .reap_between == null then
		wrong("reaped"; .reaped_with) else empty end)
else
	(if .reaped_with != $k.with or .reaper != $k.reaper then
		wrong("reaped"; [.reaped_with, .reaper]) else empty end),
	(if .reap_ts == null and $k.with == "waitid" and .reap_between != null and
		.reap_between[0] <= $k.wait1 and .reap_between[1] >= $k.wait0 then "interval"
	elif .reap_ts | inside($k.wait0; $k.wait1) | not then wrong("reap_ts"; .reap_ts)
	else empty end),
	(if .exit_ts | inside($k.fork0; $k.wait1) | not then wrong("exit_ts"; .exit_ts)
		else empty end),
	(if .reap_ts != null and .zombie_ns == null then
		if .zombie_between_ns == null then wrong("zombie_ns"; null) else "interval" end
		else empty end)
end),
(if $k.zombie | not then
	any($hidden[]; .pid == $k.pid and .ts > $k.fork1) as $unseen |
	(if .state != "freed" and .state != "unfreed" and
		($unseen and .state == "gone" | not) then
		wrong("state"; .state) else empty end),
	(if .leak and ($unseen | not) then wrong("leak"; true) else empty end)
else empty end)
end
JQ
jq -rs --slurpfile answer answer.json --slurpfile hidden hidden -f compare.jq known.json \
	>compared || fail "jq"
grep -vx interval compared >differences || :
# The events of waitid(2) do not contain the child: where another child was a zombie at that time,
# it may have been either, so only an interval is known.  The same is true where a child was reaped,
# and its PID reused, before its last switch.
intervals=$(grep -cx interval compared || :)
[ ! -s differences ] || {
	head -n 20 differences
	events_of "$(sed -n '1s/^[^:]* \([0-9]*\):.*/\1/p' differences)"
	fail "$(wc -l <differences) differences"
}
[ "$intervals" -le "$(scale 2 40)" ] || fail "$intervals children were reaped at an unknown time"
known=$(wc -l <known.json)
[ "$known" -ge 2000 ] || fail "only $known children"

# lifecycle prints no process that the program did not create.  /proc/self/exe is called exe, and so
# are children of other programs, such as browsers.
mine='.type == "process" and (.comm == "fates" or (.comm == "exe" and .parent == '$fates')) and
	(.existed | not)'
printed=$(jq -s "[.[] | select($mine)] | length" answer.json)
created=$(grep -c '"before":false' known.json)
[ "$printed" -eq "$created" ] ||
	fail "lifecycle prints $printed processes of the program, which created $created"

# The other views agree: the tree has all processes, and --pid has the steps of one.
"$STACKONCE" lifecycle --json --tree fates.stk >tree.json || fail "lifecycle --tree ended with $?"
[ "$(jq -s "[.[] | select($mine and .depth > 0)] | length" tree.json)" -eq "$printed" ] ||
	fail "processes are missing in the tree"
jq 'select(.kind == "killed") | .pid' known.json >killed
jq 'select(.type == "process" and .state == "freed") | .pid' answer.json >freed
pid=$(in_both freed killed | head -n 1)
"$STACKONCE" lifecycle --json --pid "$pid" fates.stk |
	jq -rs '[.[] | select(.type == "step") | .step] | join(" ")' >steps
for step in born runnable sent signal exit zombie reaped freed; do
	grep -qw "$step" steps || fail "the steps of $pid lack '$step': $(cat steps)"
done
"$STACKONCE" lifecycle --threads fates.stk >text || fail "lifecycle ended with $?"
note "$known children as known, $zombies zombies as in /proc, $(cat fates.log)," \
	"$(wc -l <hidden) frees hidden from BPF"
