#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# stk_format.sh STACKONCE MAKE_RECORDING STK_COLUMNS PYTHON: checks stk-format(5).  A reader written
# from that page alone reads recordings of many kinds and must find in them the same as the real
# one.
set -eu

so=$1
make=$2
columns=$3
python=$4
here=$(cd "$(dirname "$0")" && pwd)
golden=$here/../golden/fsmb
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

gzip -dc "$golden/trace.txt.gz" >"$tmp/trace"
"$so" import fsmb "$golden/stack_map_bin" -q --kallsyms "$golden/kallsyms.txt" \
	--trace "$tmp/trace" -o "$tmp/capture.stk" 2>/dev/null
for kind in small empty aliases flags user long; do
	"$make" $kind "$tmp/$kind.stk"
done
"$make" large "$tmp/large.stk" 20000 500
"$columns" "$tmp/columns.stk"
"$python" "$here/stk_format.py" "$so" "$tmp"/*.stk >"$tmp/out" || {
	cat "$tmp/out"
	exit 1
}
cat "$tmp/out"
grep -q '/user.stk: 11 events.* 6 files, 1[0-9] user frames with names' "$tmp/out" || {
	echo "user.stk does not have the expected files and names"
	exit 1
}
grep -q '/long.stk: .* blocks .*17: 2' "$tmp/out" || {
	echo "long.stk does not have a value in two parts"
	exit 1
}
grep -q '/columns.stk: 4000 events.* codings \[1, 2, 3\]$' "$tmp/out" || {
	echo "columns.stk does not use every coding of columns"
	exit 1
}
