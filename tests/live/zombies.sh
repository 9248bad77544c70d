#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Zombies whose parent reaps them late, whose parent ends, and whose new parent is a subreaper:
# lifecycle lists each of them with what is known at least of its time as a zombie.  The truth is
# what /proc shows.  Who reaps the children of an ended parent may be invisible to BPF.  Where it is
# not, they are zombies until its wait returns, a moment after /proc has shown the end of them.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tool jq
cd "$work" || exit 1

each=5
# shellcheck disable=SC2086 # an option and its value
record_bg -a -o zombies.stk --preset lifecycle $roomy
"$PROG/zombies" late $each 2000 >late.json &
late=$!
"$PROG/zombies" dies $each 2000 >dies.json &
dies=$!
"$PROG/zombies" subreaper $each 1500 >subreaper.json &
test_pids="$test_pids $late $dies $!"
for pid in $! "$dies" "$late"; do
	wait "$pid" || fail "a program ended with $?"
done
sleep 1 # for RCU
stop_recorder
want_sum zombies.stk
missing_from zombies.stk >missing || fail "the losses cannot be read"
grep -v '^sched:sched_process_free' missing >lost || :
[ ! -s lost ] || fail "events were lost, the bounds need not be known: $(cat lost)"
cat late.json dies.json subreaper.json >known.json

"$STACKONCE" lifecycle --json --top 0 zombies.stk >answer.json || fail "lifecycle ended with $?"
want_json lifecycle answer.json
cat >compare.jq <<'JQ'
($answer | map(select(.type == "process" and .comm == "zombies"))) as $all |
.[] | . as $k | ($all | map(select(.pid == $k.pid and .parent == $k.parent))) as $found |
def wrong($what): "\($k): \($what) in \($found[0])";
if ($found | length) != 1 then "\($k): printed \($found | length) times" else
$found[0] |
(if .zombie_ns then [.zombie_ns, .zombie_ns] else .zombie_between_ns end) as $b |
(if $k.kind == "late" then $k.reap0 else $k.left0 end - $k.zombie1) as $least |
if $b == null then wrong("no bound") else
	(if $b[0] < $least then wrong("less than \($least)") else empty end),
	(if $k.reap1 > 0 and ($k.kind != "dies" or .zombie_ns == null) and
		$b[0] > $k.reap1 - $k.zombie0 then
		wrong("the lower bound does not hold") else empty end),
	(if $b[1] != null and $b[1] < $k.reap0 - $k.zombie1 then
		wrong("the upper bound does not hold") else empty end),
	(if ($k.kind != "late") != (.left_ts != null) then wrong("left_ts") else empty end),
	(if .left_ts != null and .left_ts < $k.left0 then wrong("left_ts") else empty end),
	(if $k.kind == "subreaper" and .zombie_ns == null then wrong("not exact") else empty end)
end end
JQ
jq -rs --slurpfile answer answer.json -f compare.jq known.json >differences || fail "jq"
[ ! -s differences ] || {
	head -n 20 differences
	fail "$(wc -l <differences) differences"
}

# The text has each of them with such a duration, and names the parent that ended.
"$STACKONCE" lifecycle --comm zombies zombies.stk >text || fail "lifecycle ended with $?"
jq -r '[.pid, .kind, .parent] | join(" ")' known.json >pids
while read -r pid kind parent; do
	awk -v pid="$pid" -v kind="$kind" -v parent="zombies[$parent] did not reap it for" '
		$1 == pid { found = / >?[0-9.]+ s/; after = 1; next }
		after { named = index($0, parent); after = 0 }
		END { exit !(found && (kind == "late" || named)) }' text || {
		cat text
		fail "the zombie $pid ($kind) has no bound in the list"
	}
done <pids
jq -rs --slurpfile answer answer.json '($answer | map({"\(.pid)": .reap_ts}) | add) as $reap |
	map(select(.kind == "dies" and .reap1 > 0 and $reap["\(.pid)"]) |
		$reap["\(.pid)"] - .reap1) | max |
	if . then "waits of others returned up to \(.) ns after the end in /proc"
	else "no wait of others was seen" end' known.json >later || fail "jq"
note "$(cat later); $(wc -l <known.json) zombies, $(jq -rs --slurpfile known known.json '
	($known | map(.pid)) as $pids | map(select(.type == "process" and .comm == "zombies" and
	.zombie_ns == null and (.pid | IN($pids[])))) | length' answer.json) of them reaped unseen"
