#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two thousand children of known fates, retold exactly by stackonce lifecycle.
# timeout: 240
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tool jq
cd "$work" || exit 1

# zombies_in_proc: the processes that are zombies now.
zombies_in_proc()
{
	for f in /proc/[0-9]*/stat; do
		s=$(cat "$f" 2>/dev/null) || continue
		case ${s##*) } in
		Z*) echo "${s%% *}" ;;
		esac
	done
}

# in_both A B, only_in B A: lines of these files.
in_both()
{
	awk 'FILENAME == ARGV[1] { a[$0]; next } $0 in a' "$1" "$2"
}

only_in()
{
	awk 'FILENAME == ARGV[1] { a[$0]; next } !($0 in a)' "$2" "$1"
}

# await COMMAND...: until it succeeds, as long as the program runs.
await()
{
	while_runs "$fates" "$@" || fail "the program ended: $(cat fates.log)"
}

# events_of PID: what the recording has of that task, and of others that name it.
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
# A witness of the frees: RCU may do them while a thread runs that hides all from BPF.  A process
# whose free was hidden is "gone" once its number is given to another one.
need_tracefs
new_instance
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
! grep -q '^overrun: [1-9]' "$instance"/per_cpu/cpu*/stats || fail "the witness has lost frees"
seen_by_bpf <frees >frees.seen
only_in frees frees.seen |
	sed -n 's/.* \([0-9]*\)\.\([0-9]*\): sched_process_free: .* pid=\([0-9]*\) .*/{"pid":\3,"ts":\1\2000}/p' >hidden
want_sum fates.stk
missing_from fates.stk >lost
# Frees come from interrupts, where a recorder at work cannot see who is freed.
info_of fates.stk -r '.events[] | select(.name != "sched:sched_process_free" and
	(.fields_missing // 0) > 0) | "\(.name): \(.fields_missing) without fields"' >>lost
[ ! -s lost ] || fail "nothing can be exact: $(cat lost)"

# An event that came late is out of order: there is no exact answer, and no machine that never stands still.
late=$(info_of fates.stk .late)
[ "$late" -eq 0 ] || [ -n "${FATES_AGAIN:-}" ] || {
	note "$late events came late: once more"
	wait "$fates" || :
	rmdir "$instance"
	rm -rf "$work"
	FATES_AGAIN=1 exec sh "$0"
}

"$STACKONCE" lifecycle --json --top 0 fates.stk >told.json || fail "lifecycle ended with $?"
jq -c 'select(.type == "summary")' told.json

# Zombies: those in /proc at that moment.  Others on this machine may come and go meanwhile.
jq 'select(.type == "process" and .state == "zombie") | .pid' told.json >zombies.told
in_both zombies.before zombies.after >lasting
only_in lasting zombies.told >missed
[ ! -s missed ] || fail "zombies that are not told of: $(tr '\n' ' ' <missed)"
jq 'select(.type == "process" and .state == "zombie" and .comm == "fates") | .pid' told.json >mine
only_in mine zombies.before >invented
[ ! -s invented ] || fail "zombies that are none: $(tr '\n' ' ' <invented)"
zombies=$(in_both zombies.told zombies.before | wc -l)
[ "$zombies" -ge 51 ] || fail "$zombies zombies, there are 51"

# Each fate against what is told of the process with that pid that was born at that time.
cat >compare.jq <<'JQ'
def inside($a; $b): . != null and . >= $a and . <= $b;
def fate($k): if $k.zombie and $k.before and .how == "unknown" then [-1, -1] elif .how == "exit" then [.code, -1] elif .how == "signal" then [-1, .signal] else [] end;
($told | map(select(.type == "process")) | group_by(.pid) |
	map({key: (.[0].pid | tostring), value: .}) | from_entries) as $by_pid |
.[] | . as $k | ($by_pid[.pid | tostring] // []) as $same |
(if .before then $same | map(select(.existed)) else
	$same | map(select(.fork_ts | inside($k.fork0; $k.fork1))) end) as $found |
def wrong($what; $is): "\($k.kind) \($k.pid): \($what): \($is) in \($found[0] | tostring | .[:500])";
if ($found | length) != 1 then "\(.kind) \(.pid): told \($found | length) times" else $found[0] |
(if fate($k) != [$k.code, $k.sig] then wrong("fate"; fate($k)) else empty end),
(if .uncertain then wrong("uncertain"; true) else empty end),
(if .parent != $k.parent then wrong("parent"; .parent) else empty end),
(if .orphan != $k.orphan then wrong("orphan"; .orphan) else empty end),
(if .threads != $k.threads then wrong("threads"; .threads) else empty end),
(if .execs != $k.execs then wrong("execs"; .execs) else empty end),
(if .exit_ts == null and ($k.zombie and $k.before | not) then wrong("exit"; null) else empty end),
(if $k.zombie then
	(if .state != "zombie" or .reap_ts != null or .reap_between != null then wrong("state"; .state)
		else empty end)
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
	(if .exit_ts | inside($k.fork0; $k.wait1) | not then wrong("exit_ts"; .exit_ts) else empty end),
	(if .reap_ts != null and .zombie_ns == null then
		if .zombie_between_ns == null then wrong("zombie_ns"; null) else "interval" end else empty end)
end),
(if $k.zombie | not then
	any($hidden[]; .pid == $k.pid and .ts > $k.fork1) as $unseen |
	(if .state != "freed" and .state != "unfreed" and ($unseen and .state == "gone" | not) then
		wrong("state"; .state) else empty end),
	(if .leak and ($unseen | not) then wrong("leak"; true) else empty end)
else empty end)
end
JQ
jq -rs --slurpfile told told.json --slurpfile hidden hidden -f compare.jq known.json >compared || fail "jq"
grep -vx interval compared >differences || :
# What waitid(2) returned is not in its events: where another child was a zombie then, it may have been
# either, and an interval is the truth.  So it is where a child was reaped, and its number given to another
# one, before its CPU came to its last switch.
intervals=$(grep -cx interval compared || :)
[ ! -s differences ] || {
	head -n 20 differences
	events_of "$(sed -n '1s/^[^:]* \([0-9]*\):.*/\1/p' differences)"
	fail "$(wc -l <differences) differences"
}
[ "$intervals" -le "$(scale 2 40)" ] || fail "$intervals reaped at a time that is not known"
known=$(wc -l <known.json)
[ "$known" -ge 2000 ] || fail "only $known fates"

# Nobody is told of that the program did not make.  /proc/self/exe is called exe.
mine='.type == "process" and (.comm == "fates" or .comm == "exe") and (.existed | not)'
told=$(jq -s "[.[] | select($mine)] | length" told.json)
[ "$told" -eq "$(grep -c '"before":false' known.json)" ] ||
	fail "$told processes of the program are told of, $(grep -c '"before":false' known.json) made"

# The other views agree: all in the tree, and the story of one.
"$STACKONCE" lifecycle --json --tree fates.stk >tree.json || fail "lifecycle --tree ended with $?"
[ "$(jq -s "[.[] | select($mine and .depth > 0)] | length" tree.json)" -eq "$told" ] ||
	fail "processes are missing in the tree"
jq 'select(.kind == "killed") | .pid' known.json >killed
jq 'select(.type == "process" and .state == "freed") | .pid' told.json >freed
pid=$(in_both freed killed | head -n 1)
"$STACKONCE" lifecycle --json --pid "$pid" fates.stk |
	jq -rs '[.[] | select(.type == "step") | .step] | join(" ")' >story
for step in born runnable sent signal exit zombie reaped freed; do
	grep -qw "$step" story || fail "the story of $pid lacks '$step': $(cat story)"
done
"$STACKONCE" lifecycle --threads fates.stk >text || fail "lifecycle ended with $?"
note "$known fates retold, $zombies zombies as in /proc, $(cat fates.log), $(wc -l <hidden) frees hidden from BPF"
