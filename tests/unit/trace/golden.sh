#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# golden.sh TRACE_DUMP RECORDINGS DUMPS: dumps each recording and compares it with its golden text.
# There is a recording of every version of the format: old recordings stay readable.
set -u
checked=0
failed=0
for dump in "$3"/*.txt; do
	name=$(basename "$dump" .txt)
	if ! "$1" "$2/$name.stk" | diff -u "$dump" -; then
		echo "$name: reads differently"
		failed=1
	fi
	checked=$((checked + 1))
done
echo "$checked recordings"
[ "$checked" -ge 6 ] && [ "$failed" -eq 0 ]
