#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Walks of the reverse map: events made of probes of the three functions that walk.  A workload has
# pages of all types walked in all ways; the kernel's own probes count at another level, at the
# functions that decide to walk, by what they are called with.  Where no function can be probed the
# recorder must say so.
# timeout: 120
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_rmap.sh
. "$LIVE/lib_rmap.sh"
cd "$work" || exit 1
need_tracefs

start=rmap:rmap_walk_start
end=rmap:rmap_walk_end
probes=$tracefs/events/stackonce_rmap

# no_probes: none of ours.  What a probe counts into goes first.
no_probes()
{
	for p in "$probes"/*/; do
		[ -d "$p" ] || continue
		grep '^hist' "$p/trigger" | sed 's/^/!/; s/ \[[a-z]*\]$//' >"$work/trigger"
		[ ! -s "$work/trigger" ] || cat "$work/trigger" >"$p/trigger"
		echo "-:stackonce_rmap/$(basename "$p")" >>"$tracefs/kprobe_events"
	done
}

restore()
{
	no_probes
	rmap_restore
}

# probe NAME ARGS [KEYS [CONDITION]]: a probe on a function, and its calls counted by process and by
# these of what it is called with.  type is the two low bits of folio->mapping.
probe()
{
	echo "p:stackonce_rmap/$1 $1 type=+0x18(%di):b2@0/64 $2" >>"$tracefs/kprobe_events" || return 1
	[ -z "${3:-}" ] || echo "hist:keys=common_pid,$3:size=2048${4:+ if $4}" >"$probes/$1/trigger"
}

# The callers, and when each of them returns before it walks: nothing maps the page, it belongs to
# nobody, or folio_referenced() would have to lock the page and somebody else has.  0x30 is
# folio->_mapcount, the lowest bit of the flags says locked; flag 0x80 of the two that unmap says that
# their caller holds the lock of the map.
probe_callers()
{
	own='mapping=+0x18(%di):x64 mapcount=+0x30(%di):s32'
	walks='mapcount >= 0 && mapping > 3'
	probe try_to_unmap 'locked=%si:b1@7/32' type,locked &&
		probe try_to_migrate 'locked=%si:b1@7/32' type,locked &&
		probe folio_mkclean "$own" type "$walks" &&
		probe folio_referenced "$own is_locked=%si:s32 busy=+0(%di):b1@0/64" type \
			"$walks && (is_locked != 0 || busy == 0 || type == 1)" &&
		probe rmap_walk '' type &&
		probe rmap_walk_locked '' type
}

# counted_calls PID: lines CALLER TYPE LOCKED COUNT of what was counted.
counted_calls()
{
	for p in "$probes"/*/; do
		who=$(basename "$p")
		locked=0
		[ "$who" != rmap_walk_locked ] || locked=1
		case $who in
		rmap_walk*) who=rmap_walk ;;
		esac
		! grep -q 'Dropped: [1-9]' "$p/hist" || fail "$who was not counted in full"
		grep hitcount "$p/hist" | tr -d '{},' | awk -v who="$who" -v pid="$1" -v locked="$locked" '{
			l = locked
			for (i = 1; i < NF; i += 2) {
				if ($i == "common_pid:") p = $(i + 1)
				if ($i == "type:") type = $(i + 1)
				if ($i == "locked:") l = $(i + 1)
				if ($i == "hitcount:") n = $(i + 1)
			}
			if (p == pid)
				print who, type == 3 ? "ksm" : type == 1 ? "anon" : "file", l ? "true" : "false", n
		}'
	done | sort
}

# recorded_calls FILE PID EVENT: the same of the events, by the first frame that is not of the walk.
# Only rmap_walk and rmap_walk_locked, which end in a jump, are not in the stacks.
recorded_calls()
{
	"$STACKONCE" stacks --json "$1" | jq -r '[.id, ([.frames[].sym | select(. != null and
		(startswith("rmap_walk") or startswith("__rmap_walk") | not))][0] // "nobody")] | @tsv' >callers
	"$STACKONCE" script --json --pid "$2" --event "$3" "$1" |
		jq -r '[.kstack, .fields.page_type, (.fields.locked == 1 or .fields.locked == true)] | @tsv' |
		awk -F '\t' 'NR == FNR { sym[$1] = $2; next }
			{
				who = sym[$1]
				if (who !~ /^(try_to_unmap|try_to_migrate|folio_mkclean|folio_referenced)$/)
					who = "rmap_walk"
				n[who " " $2 " " $3]++
			}
			END { for (k in n) print k, n[k] }' callers - | sort
}

# refused: the message and the exit code where no function can be probed.
refused()
{
	rc=0
	"$STACKONCE" record -q -e $start -o no.stk -- true >out 2>err || rc=$?
	cat err
	[ "$rc" -ne 0 ] || fail "$start is recorded though the kernel refuses kprobes"
	[ "$(wc -l <err)" -eq 1 ] || fail "not one line says why"
	grep -q "$start" err || fail "the message does not name the event"
	[ ! -s no.stk ] || fail "there is a recording"
	skip "the kernel refuses probes of functions; the recorder says so"
}

probe try_to_unmap '' 2>/dev/null || refused
[ -n "${LIVE_VM:-}" ] || skip "changes swap, KSM and the memory's settings: only in a test machine"
no_probes
rmap_set_up
probe_callers || fail "the kernel's own probes cannot be made"
record -a --no-user-stacks --preset rmap -o rmap.stk -- "$PROG/rmap_work" mnt "$group"
mkdir -p "$LIVE_OUT/keep"
cp rmap.stk "$LIVE_OUT/keep/"
cat record.out
pid=$(sed -n 's/^pid //p' record.out)
counted_calls "$pid" >calls
echo "counted at the callers:"
cat calls
want_sum rmap.stk
for e in $start $end; do
	[ "$(counted rmap.stk $e lost)" -eq 0 ] || fail "$e: lost events"
done

# the same walks, by caller, type and lock
recorded_calls rmap.stk "$pid" $start >starts
recorded_calls rmap.stk "$pid" $end >ends
# rmap_walk and rmap_walk_locked are one here: their callers do not tell them apart
awk '{ n[$1 " " $2 " " $3] += $4 } END { for (k in n) print k, n[k] }' calls | sort >want
for f in starts ends; do
	cmp -s $f want || {
		diff want $f
		fail "$f are not what was counted at the callers"
	}
done

# what must be among them
for who in folio_referenced try_to_unmap try_to_migrate folio_mkclean rmap_walk; do
	grep -q "^$who " starts || fail "no walk for $who"
done
for what in 'anon false' 'anon true' 'file false' 'file true' 'ksm false'; do
	grep -q " $what " starts || fail "no walk of $what"
done
! grep -q ' ksm true ' starts || fail "the kernel does not walk merged pages locked"
for kind in anon file ksm; do
	grep -q "^try_to_migrate $kind false" starts || fail "no migration of $kind"
done

# every walk of the process ends before its next begins, with the same fields
"$STACKONCE" script --json --pid "$pid" rmap.stk | jq -r '[.event, (.fields | .folio_addr, .rwc_addr,
	.page_type, .locked)] | @tsv' | awk -F '\t' '
	{ walk = $2 " " $3 " " $4 " " $5 }
	$1 ~ /start$/ { if (open) bad++; open = walk; next }
	{ if (open != walk) bad++; open = ""; pairs++ }
	END { print pairs + 0, bad + 0, open != "" }' >pairs
read -r pairs bad open <pairs
[ "$bad" -eq 0 ] || fail "$bad walks do not begin and end alike"
[ "$open" -eq 0 ] || fail "a walk is open at the end"

# and so does the answer made of them
"$STACKONCE" latency --preset rmap --pid "$pid" --json rmap.stk >answer || fail "latency ended with $?"
[ "$(jq 'select(.type == "accounting") | .paired' answer)" -eq "$pairs" ] ||
	fail "latency does not pair $pairs walks"
jq -r 'select(.type == "group") | [.by.page_type, (.by.locked == 1 or .by.locked == true), .count] |
	"\(.[0]) \(.[1]) \(.[2])"' answer | sort >groups
awk '{ n[$2 " " $3] += $4 } END { for (k in n) print k, n[k] }' want | sort >want_groups
cmp -s groups want_groups || {
	diff want_groups groups
	fail "latency has other groups than were counted"
}

# how they look
"$STACKONCE" script --no-header --no-stacks --event 'rmap:*' rmap.stk >text
grep -v -E ' rmap_walk_(start|end): +folio=(0x)?[0-9a-f]+ rwc=(0x)?[0-9a-f]+ page_type=(anon|file|ksm) locked=(true|false)$' \
	text >odd
[ ! -s odd ] || {
	head -n 3 odd
	fail "events do not look as proposed"
}
"$STACKONCE" list 'rmap:*' >text || fail "list ended with $?"
for e in $start $end; do
	grep -q "^$e.*emulated" text || fail "list does not mark $e as emulated"
done
"$STACKONCE" info rmap.stk | grep -A 1 "$start" | grep -q emulated ||
	fail "info does not mark it as emulated"
for e in $start $end; do
	info_true rmap.stk --arg e $e 'any(.events[]; .name == $e and .kind == "emulated")' ||
		fail "info --json does not say what kind of event $e is"
done
note "$pairs walks as counted at their callers, $(wc -c <rmap.stk) bytes"
