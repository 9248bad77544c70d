#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Under a load of network and block interrupts, which allocate and free memory, native kmem events
# lose no more than those whose records the kernel fills, and never lack their fields: two recorders
# record the same events at the same time, each in one way.
# A recording that ends under such a load, and whose counters are read late, loses nothing either.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

# Interrupts of the network, of timers, and of the disk that the directory lies on.
load()
{
	"$PROG/often" 1000000 "$(scale 5 20)" &
	busy=$!
	test_pids="$test_pids $busy"
	while is_child "$busy"; do
		dd if=/dev/zero of=block bs=1M count=16 oflag=direct 2>/dev/null ||
			dd if=/dev/zero of=block bs=1M count=4 2>/dev/null
	done
	wait "$busy" || fail "the load ended with $?"
}

# want_losses FILE: script shows as many lost events as are counted, but for those at the edges.  It
# may show more of an emulated machine: what a CPU that stands still is about to take looks lost.
want_losses()
{
	"$STACKONCE" script --json --no-stacks "$1" | grep '"type":"loss"' |
		jq -n --argjson events "$(info_of "$1" -c .events)" --arg vm "${LIVE_VM:-}" '
		(reduce inputs as $l ({}; .[$l.event] += $l.count)) as $shown |
		$events[] | (.lost - .lost_by.edge - ($shown[.name] // 0)) as $hidden |
		select($hidden > 0 or ($hidden < 0 and $vm == "")) |
		{name, lost, lost_by, shown: $shown[.name]}' >wrong || fail "jq"
	[ ! -s wrong ] || fail "$1: script shows other losses: $(cat wrong)"
}

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy --no-user-stacks --fields kernel -o kernel.stk -e 'kmem:*'
kernel=$recorder
# shellcheck disable=SC2086
record_bg -a $roomy --no-user-stacks --fields native -o native.stk -e 'kmem:*'
native=$recorder
load
for recorder in "$native" "$kernel"; do
	stop_recorder
done
want_sum native.stk
want_sum kernel.stk
want_losses native.stk
for way in native kernel; do
	info_of $way.stk -c '.totals | {happened, recorded, nested: .lost_by.nested,
		scratch: .lost_by.scratch, ring: .lost_by.ring}' >$way.totals
	note "$way: $(cat $way.totals)"
	info_of $way.stk -r '.totals.lost_by | .nested + .scratch' >$way.lost
done
[ "$(info_of native.stk .totals.recorded)" -gt "$(scale 50000 2000)" ] ||
	fail "few events happened: this tested nothing"
# A loss takes an interrupt within an interrupt, and which recorder these hit is chance.
[ "$(cat native.lost)" -le $(($(cat kernel.lost) + 4)) ] ||
	fail "more is lost natively: $(cat native.lost), and $(cat kernel.lost) otherwise"
info_true native.stk '.meta."events.native" | test("kmem:kmalloc")' || fail "kmalloc is not native"
missing=$(info_of native.stk '(.meta."events.native" | split(", ")) as $native |
	[.events[] | select(IN(.name; $native[])) | .fields_missing] | add')
[ "$missing" -eq 0 ] || fail "fields are missing in $missing native events"

# What the kernel skips the first of two programs for is no loss once the recording has ended.
export WAY_BACK_LATE=2000
command=$STACKONCE
STACKONCE=$PROG/way_back
"$PROG/often" 1000000 "$(scale 4 20)" &
busy=$!
test_pids="$test_pids $busy"
# shellcheck disable=SC2086
record $roomy -a --no-user-stacks --fields native -o late.stk -e 'kmem:*' -- sleep 1
end_child TERM "$busy"
STACKONCE=$command
want_sum late.stk
want_losses late.stk
