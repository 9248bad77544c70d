#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# chdb.sh STACKONCE MAKE_RECORDING GOLDEN_DIR DOCUMENT: see chdb.py
set -eu
stackonce=$(realpath "$1") make=$(realpath "$2") golden=$(realpath "$3") document=$(realpath "$4")
here=$(realpath "$(dirname "$0")")
engine=$(sh "$here/../../npm/fetch.sh" chdb) || exit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cp "$golden/demo.stk" "$golden/waits.stk" .
"$make" fleet fleet.stk
"$make" fleet-other fleet-other.stk
"$make" large large.stk 100000 2000
python3 "$here/chdb.py" "$engine/libchdb.so" "$stackonce" "$document" demo.stk waits.stk fleet.stk \
	fleet-other.stk large.stk
