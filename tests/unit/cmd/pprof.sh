#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# pprof reads what `export pprof` writes, and shows the counts that `report` prints.
#   pprof.sh STACKONCE MAKE_RECORDING USER_RECORDING PROGRAM GOLDEN_DIR PYTHON
set -u
so=$(realpath "$1") make=$(realpath "$2") make_user=$(realpath "$3") program=$(realpath "$4")
golden=$(realpath "$5") python=$6 here=$(realpath "$(dirname "$0")")
unset PPROF_BINARY_PATH PPROF_TOOLS

for tool in go readelf nm addr2line; do
	command -v $tool >/dev/null || {
		echo "skipped: $tool is missing"
		exit 77
	}
done
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
export HOME="$dir" PPROF_TMPDIR="$dir"

"$so" export pprof -o first.gz "$golden/demo.stk" 2>err
if grep -q 'built without protobuf-c' err; then
	echo "skipped: $(cat err)"
	exit 77
fi
record small empty hostile aliases flags user guesses profile
cp "$golden/demo.stk" "$golden/waits.stk" .

# A program that exists: an offset in outer() inside two inlined functions, and one in main().
cp "$program" prog
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
address=$(nm prog | sed -n 's/^\([0-9a-f]*\) T outer$/0x\1/p')
at=$((address))
while [ $at -lt $((address + 256)) ]; do
	at=$((at + 1))
	[ "$(addr2line -i -e prog "$(printf %x $at)" | wc -l)" -eq 3 ] && break
done
main=$(nm prog | sed -n 's/^\([0-9a-f]*\) T main$/0x\1/p')
# shellcheck disable=SC2046 # two words
set -- $(readelf -lW prog | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
outer=$(printf %x $((at - $2 + $1))) main=$(printf %x $((main + 1 - $2 + $1)))
"$make_user" prog.stk "$dir/prog" "$id" "$outer" "$main" || exit 1

"$python" "$here/pprof.py" "$so" "$dir/prog" "$id" "$outer" "$main"
