#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Emulated events for walks of the reverse map, made from probes of the three functions that walk.
# A workload causes walks of pages of all types in all ways.  The kernel's own probes count the
# calls of the functions that decide to walk, by their arguments, and the counts must match.  Where
# no function can be probed, the recorder must say so.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_rmap.sh
. "$LIVE/lib_rmap.sh"
cd "$work" || exit 1
need_tracefs

start=rmap:rmap_walk_start
end=rmap:rmap_walk_end
probes=$tracefs/events/stackonce_rmap

# no_probes: removes the test's probes.  The histogram of a probe must be removed first.
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

# probe NAME ARGS [KEYS [CONDITION]]: adds a probe on the function NAME with the arguments ARGS, and
# counts its calls by process and KEYS.  type is the two low bits of folio->mapping.
probe()
{
	echo "p:stackonce_rmap/$1 $1 type=+0x18(%di):b2@0/64 $2" >>"$tracefs/kprobe_events" ||
		return 1
	[ -z "${3:-}" ] ||
		echo "hist:keys=common_pid,$3:size=2048${4:+ if $4}" >"$probes/$1/trigger"
}

# probe_callers: counts the callers of a walk.  The conditions exclude calls that return before they
# walk: the page is not mapped, it has no owner, or folio_referenced() cannot lock it because
# another task has.  0x30 is folio->_mapcount, the lowest bit of the flags says locked; flag 0x80 of
# the two functions that unmap says that the caller holds the lock of the map.
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

# counted_calls PID: prints the counted calls as lines CALLER TYPE LOCKED COUNT.
counted_calls()
{
	for p in "$probes"/*/; do
		caller=$(basename "$p")
		locked=0
		[ "$caller" != rmap_walk_locked ] || locked=1
		case $caller in
		rmap_walk*) caller=rmap_walk ;;
		esac
		! grep -q 'Dropped: [1-9]' "$p/hist" || fail "calls of $caller were not counted"
		grep hitcount "$p/hist" | tr -d '{},' | awk -v caller="$caller" -v pid="$1" \
			-v locked="$locked" '{
			l = locked
			for (i = 1; i < NF; i += 2) {
				if ($i == "common_pid:") p = $(i + 1)
				if ($i == "type:") type = $(i + 1)
				if ($i == "locked:") l = $(i + 1)
				if ($i == "hitcount:") n = $(i + 1)
			}
			if (p == pid)
				print caller, type == 3 ? "ksm" : type == 1 ? "anon" : "file",
					l ? "true" : "false", n
		}'
	done | sort
}

# recorded_calls FILE PID EVENT: prints the same for the events; the caller is the first frame that
# is not part of the walk.  rmap_walk and rmap_walk_locked are not in the stacks, because they end
# in a jump.
recorded_calls()
{
	"$STACKONCE" stacks --json "$1" | jq -r '[.id, ([.frames[].sym | select(. != null and
		(startswith("rmap_walk") or startswith("__rmap_walk") | not))][0] // "none")] |
		@tsv' >callers
	"$STACKONCE" script --json --pid "$2" --event "$3" "$1" |
		jq -r '[.kstack, .fields.page_type,
			(.fields.locked == 1 or .fields.locked == true)] | @tsv' |
		awk -F '\t' 'NR == FNR { sym[$1] = $2; next }
			{
				by = sym[$1]
				if (by !~ /^try_to_(unmap|migrate)$/ &&
				    by !~ /^folio_(mkclean|referenced)$/)
					by = "rmap_walk"
				n[by " " $2 " " $3]++
			}
			END { for (k in n) print k, n[k] }' callers - | sort
}

# refused: checks the message and the exit code where no function can be probed.
refused()
{
	rc=0
	"$STACKONCE" record -q -e $start -o no.stk -- true >out 2>err || rc=$?
	cat err
	[ "$rc" -ne 0 ] || fail "$start is recorded although the kernel refuses kprobes"
	[ "$(wc -l <err)" -eq 1 ] || fail "not one line of messages"
	grep -q "$start" err || fail "the message does not name the event"
	[ ! -s no.stk ] || fail "record left a recording"
	skip "the kernel refuses kprobes, and the recorder says so"
}

probe try_to_unmap '' 2>/dev/null || refused
[ -n "${LIVE_VM:-}" ] || skip "changes swap, KSM and memory settings: only in a test machine"
no_probes
rmap_set_up
probe_callers || fail "cannot add probes in tracefs"
record -a --no-user-stacks --preset rmap -o rmap.stk -- "$PROG/rmap_work" mnt "$group"
mkdir -p "$LIVE_OUT/keep"
cp rmap.stk "$LIVE_OUT/keep/"
cat record.out
pid=$(sed -n 's/^pid //p' record.out)
counted_calls "$pid" >calls
echo "calls counted at the callers:"
cat calls
want_sum rmap.stk
for e in $start $end; do
	[ "$(counted rmap.stk $e lost)" -eq 0 ] || fail "$e: events were lost"
done

# the same walks, by caller, type and lock
recorded_calls rmap.stk "$pid" $start >starts
recorded_calls rmap.stk "$pid" $end >ends
# rmap_walk and rmap_walk_locked count as one caller, because the stacks do not distinguish them
awk '{ n[$1 " " $2 " " $3] += $4 } END { for (k in n) print k, n[k] }' calls | sort >want
for f in starts ends; do
	cmp -s $f want || {
		diff want $f
		fail "$f differ from the calls counted at the callers"
	}
done

# all callers and types of pages occur
for caller in folio_referenced try_to_unmap try_to_migrate folio_mkclean rmap_walk; do
	grep -q "^$caller " starts || fail "no walk for $caller"
done
for what in 'anon false' 'anon true' 'file false' 'file true' 'ksm false'; do
	grep -q " $what " starts || fail "no walk of $what"
done
! grep -q ' ksm true ' starts || fail "a locked walk of a KSM page, which the kernel does not do"
for kind in anon file ksm; do
	grep -q "^try_to_migrate $kind false" starts || fail "no migration of $kind"
done

# every walk of the process ends before its next begins, with the same fields
"$STACKONCE" script --json --pid "$pid" rmap.stk | jq -r '[.event, (.fields | .folio_addr,
	.rwc_addr, .page_type, .locked)] | @tsv' | awk -F '\t' '
	{ walk = $2 " " $3 " " $4 " " $5 }
	$1 ~ /start$/ { if (open) bad++; open = walk; next }
	{ if (open != walk) bad++; open = ""; pairs++ }
	END { print pairs + 0, bad + 0, open != "" }' >pairs
read -r pairs bad open <pairs
[ "$bad" -eq 0 ] || fail "the start and the end of $bad walks differ"
[ "$open" -eq 0 ] || fail "a walk has no end"

# latency has the same pairs
"$STACKONCE" latency --preset rmap --pid "$pid" --json rmap.stk >answer ||
	fail "latency ended with $?"
[ "$(jq 'select(.type == "accounting") | .paired' answer)" -eq "$pairs" ] ||
	fail "latency does not pair $pairs walks"
jq -r 'select(.type == "group") | [.by.page_type, (.by.locked == 1 or .by.locked == true), .count] |
	"\(.[0]) \(.[1]) \(.[2])"' answer | sort >groups
awk '{ n[$2 " " $3] += $4 } END { for (k in n) print k, n[k] }' want | sort >want_groups
cmp -s groups want_groups || {
	diff want_groups groups
	fail "the groups of latency differ from the counted calls"
}

# the format of the events
"$STACKONCE" script --no-header --no-stacks --event 'rmap:*' rmap.stk >text
fields='folio=(0x)?[0-9a-f]+ rwc=(0x)?[0-9a-f]+ page_type=(anon|file|ksm) locked=(true|false)'
grep -v -E " rmap_walk_(start|end): +$fields\$" text >odd
[ ! -s odd ] || {
	head -n 3 odd
	fail "the format of some events is wrong"
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
note "$pairs walks equal the calls counted at the callers, $(wc -c <rmap.stk) bytes"
