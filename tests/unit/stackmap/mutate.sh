#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# mutate.sh HEADER MUTATION OUT: a copy of the stack map's header with one deliberate error, for tests
# that must notice it.  Fails if the text to be damaged is no longer there.
set -eu
case $2 in
publish-first)	# the slot shows a record that is not written yet
	script='s/if (stackmap_write(b, n, off, flags))/if (0)/
		s/id = stackmap_probe(b, n, h, off, flags);/&\
	STACKMAP_PAUSE();\
	stackmap_write(b, n, off, flags);/' changes=4 ;;
hash-only)	# equal hash and length count as equal
	script='s/ || !stackmap_same(p + 1, b->w, n)//' changes=2 ;;
blind-publish)	# load, then store, instead of compare-and-swap
	script='s/v = stackmap_cas64(at, 0, \(.*\));$/STACKMAP_PAUSE();\
				*at = \1;\
				v = 0;/' changes=4 ;;
leak)		# the loser forgets its room
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$//' changes=2 ;;
double-free)	# the loser gives its room back twice
	script='s/^\tstackmap_free(off, STACKMAP_ROOM(n));$/&\
&/' changes=1 ;;
no-padding)	# leftovers behind the last word are hashed and compared
	script='s/^\tb->w\[n.*\] = 0;$//' changes=6 ;;
relaxed-load)	# a slot is read without ordering what it names; x86 hides this from all but TSan
	script='s/__atomic_load_n((const __u64 \*)(p), __ATOMIC_ACQUIRE)/__atomic_load_n(p, __ATOMIC_RELAXED)/' \
	changes=2 ;;
*)
	echo "no mutation '$2'" >&2
	exit 2 ;;
esac
sed "$script" "$1" >"$3"
found=$(diff "$1" "$3" | grep -c '^[<>]') || :
if [ "$found" != "$changes" ]; then
	echo "mutation '$2' changed $found line(s) of $1, not $changes" >&2
	exit 1
fi
