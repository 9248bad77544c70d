#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh BUILD [BENCH]...: runs the named benches, or all of them.  BENCH_COMMIT names what is
# measured.
set -u
BUILD=$(cd "$1" && pwd)
shift
BENCH=$(cd "$(dirname "$0")" && pwd)
export BUILD BENCH LC_ALL=C
if [ "$(id -u)" -ne 0 ]; then
	echo "bench: recording needs root" >&2
	exit 1
fi

# What numbers depend on; documents quote it with them.
describe_run()
{
	echo "Linux $(uname -r), $(nproc) CPUs," \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date +%F)," \
		"load average $(cut -d ' ' -f 1-3 /proc/loadavg), commit ${BENCH_COMMIT:-unknown}"
}

[ $# -gt 0 ] || set -- record start minute drain read export view walk path loop stackmap user
rc=0
for bench; do
	if [ -f "$BENCH/$bench.sh" ] && [ "${bench#lib}" = "$bench" ]; then
		echo "== $bench"
		describe_run
		sh "$BENCH/$bench.sh" || rc=1
		continue
	fi
	echo "bench: there is no bench '$bench'" >&2
	rc=2
done
exit "$rc"
