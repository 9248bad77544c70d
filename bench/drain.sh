#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The recorder's own CPU time per event, from prepared rings to the file: no event happens.
#   BENCH_REPEATS    runs, of which the median is printed (9)
#   BENCH_RECORDING  a recording whose events are taken as a load, too
# shellcheck source=bench/lib.sh
. "$BENCH/lib.sh"

echo "CPU ns of the recorder per event: emptying the rings, ending the rounds, and both."
printf '\n%-12s %16s %6s %6s %6s %6s\n' load events rings rounds both bytes
for load in calls kmem ${BENCH_RECORDING:-}; do
	"$BUILD/bench/drain" -r "${BENCH_REPEATS:-9}" "$load" || exit 1
done
