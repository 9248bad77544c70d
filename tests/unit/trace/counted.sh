#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# counted.sh TRACE_COUNTED MAKE_RECORDING DIR...: reads the recordings in these directories, made
# ones, and damaged copies, by events, counted and with selections; all must agree.
set -eu
counted=$1
make=$2
shift 2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for kind in small empty long abrupt hostile aliases losses flags strings user user-hostile \
	guesses latency lifecycle zombies wakers selected stalls addresses; do
	"$make" "$kind" "$tmp/$kind.stk"
done
"$make" large "$tmp/large.stk" 40000 300
# bytes in the middle of blocks are wrong, and the end is missing
cp "$tmp/large.stk" "$tmp/damaged.stk"
size=$(wc -c <"$tmp/damaged.stk")
for at in 2 3 5; do
	printf '\377\377\377' |
		dd of="$tmp/damaged.stk" bs=1 seek=$((size * at / 7)) conv=notrunc 2>/dev/null
done
head -c $((size * 6 / 7)) "$tmp/damaged.stk" >"$tmp/torn.stk"
for dir; do
	find "$dir" -name '*.stk' >>"$tmp/found"
done
# shellcheck disable=SC2046 # the names have no spaces
"$counted" "$tmp"/*.stk $(cat "$tmp/found") >"$tmp/out"
cat "$tmp/out"
[ "$(wc -l <"$tmp/out")" -ge 40 ]
