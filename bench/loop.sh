#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A native event in a loop, without any event: what of its cost does not depend on caches, see
# docs/event-path.md.  Nothing is attached.
#   BENCH_REPEATS    measurements (5)
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

for _ in $(seq 1 "${BENCH_REPEATS:-5}"); do
	"$BUILD/bench/loop" "$BUILD/bench" 2000 || exit 1
done >"$work/data"

# cost STACKS HOW: "NS SPREAD" over the measurements on either CPU.
cost()
{
	awk -v stacks="$1" -v how="$2" '$1 == stacks && $2 == how { print $4 }' "$work/data" \
		>"$work/ns"
	echo "$(median <"$work/ns") $(spread <"$work/ns")"
}

# row TITLE STACKS
row()
{
	echo "$(cost "$2" alone) $(cost "$2" both)" | awk -v title="$1" \
		'{ printf "%-36s %9s %7s %9s %7s\n", title, $1, $2, $3, $4 }'
}

printf '%-36s %9s %7s %9s %7s\n' 'ns per event in a loop' 'one CPU' '+-' 'both CPUs' '+-'
row 'kernel stack of some 7 frames, known' stacks
row 'no stacks' no-stacks
promise_two_cpus "$(cost stacks both)" "$(cost stacks alone)"
[ "$failures" -eq 0 ]
