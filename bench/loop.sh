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

# ns STACKS HOW: the median over both CPUs.
ns()
{
	awk -v stacks="$1" -v how="$2" '$1 == stacks && $2 == how { print $4 }' "$work/data" |
		median
}

printf '%-40s %9s %9s\n' 'ns per event in a loop' 'one CPU' 'both CPUs'
printf '%-40s %9s %9s\n' 'kernel stack of some 7 frames, known' "$(ns stacks alone)" \
	"$(ns stacks both)"
printf '%-40s %9s %9s\n' 'no stacks' "$(ns no-stacks alone)" "$(ns no-stacks both)"
promise "two CPUs with one hot stack, of one's" \
	"$(echo "$(ns stacks both) $(ns stacks alone)" | awk '{ printf "%.2f\n", $1 / $2 }')" 1.05
[ "$failures" -eq 0 ]
