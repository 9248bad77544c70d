#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh BUILD [BENCH]...: runs the named benches, or all: record, start, drain, read, export, view,
# walk, path, loop, stackmap, user.
set -u
BUILD=$(cd "$1" && pwd)
shift
BENCH=$(cd "$(dirname "$0")" && pwd)
export BUILD BENCH LC_ALL=C
if [ "$(id -u)" -ne 0 ]; then
	echo "bench: recording needs root" >&2
	exit 1
fi
[ $# -gt 0 ] || set -- record start drain read export view walk path loop stackmap user
rc=0
for bench; do
	if [ -f "$BENCH/$bench.sh" ] && [ "${bench#lib}" = "$bench" ]; then
		echo "== $bench"
		sh "$BENCH/$bench.sh" || rc=1
		continue
	fi
	echo "bench: there is no bench '$bench'" >&2
	rc=2
done
exit "$rc"
