#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A module is unloaded and loaded again at the same address: what was stored keeps the module that
# is gone, and the same stack has another id afterwards.
# needs: variant=all smp=2
# timeout: 240
. "$TESTS/lib.sh"

# load_at [ADDRESS]: loads the module; at another address than that it is unloaded again.
load_at()
{
	insmod /live/prog/brd.ko rd_nr=1 rd_size=1024 || fail "no module brd"
	address=$(awk '$1 == "brd" { print $6 }' /proc/modules)
	[ "${1:-$address}" != "$address" ] || return 0
	rmmod brd || fail "rmmod"
	return 1
}

# through_module FILE: reads a block device of the module and writes the ids that go through it
through_module()
{
	echo 1 >"$dir/tracing_on"
	dd if=/dev/zero of=/dev/ram0 bs=4096 count=20 2>/dev/null
	sync
	dd if=/dev/ram0 of=/dev/null bs=4096 count=20 2>/dev/null
	tracing_off "$dir"
	awk '/^stack_id/ { id = $2 } /\[brd\]$/ { print id }' "$dir/stack_map" | sort -u >"$1"
	grep '\[brd\]$' "$dir/stack_map" >"$1.frames"
	[ -s "$1" ] || fail "no stack goes through the module"
	rmmod brd || fail "rmmod"
}

instance modules 14
dir=$tracefs/instances/modules
events "$dir" kmem/mm_page_alloc kmem/kmem_cache_alloc
load_at
[ "$((address))" != 0 ] || fail "no address in /proc/modules"
first=$address
through_module "$OUT/first"
cp "$dir/stack_map" "$OUT/map-gone"
cat "$dir/stack_map_bin" >"$OUT/bin-gone" || fail "stack_map_bin cannot be read"
[ "$(grep -c ' 0x[0-9a-f]* \[brd, unloaded\]$' "$OUT/map-gone")" = \
	"$(wc -l <"$OUT/first.frames")" ] ||
	fail "frames of the module that is gone"
! grep -q '\[brd\]$' "$OUT/map-gone" || fail "a frame in a module that is gone"

until_true 16 0 load_at "$first" ||
	skip "the module is never at $first again, but at $address"
through_module "$OUT/second"
[ -z "$(sort "$OUT/first" "$OUT/second" | uniq -d)" ] || fail "an id of before for a stack of after"
# Nothing else was forgotten: no other stack is there twice.
awk '/^stack_id/ { if (n && !gone) print text; text = ""; gone = 0; n++; next }
	/unloaded\]$/ { gone = 1 } { text = text "|" $0 }
	END { if (!gone) print text }' "$dir/stack_map" | sort | uniq -d >"$OUT/twice"
[ ! -s "$OUT/twice" ] || fail "stacks twice: $(head -n 2 "$OUT/twice")"
statistics "$dir"
note "$(wc -l <"$OUT/first") stacks before, $(wc -l <"$OUT/second") after"
