#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# stack_key.sh STACKONCE MAKE_RECORDING DOCUMENT GOLDEN_DIR PYTHON: the keys of stacks are those
# that the document defines, and two hosts that run the same program have the same ones.
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") document=$(realpath "$3") golden=$(realpath "$4")
python=$5
here=$(realpath "$(dirname "$0")")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
for kind in small user guesses replaced aliases fleet fleet-other; do
	"$make" "$kind" "$kind.stk" || exit 1
done
failed=0
"$python" "$here/stack_key.py" "$stackonce" "$document" ./*.stk "$golden"/*.stk || failed=1

# keys_of FILE: the keys of the stacks of its events, with their frames
keys_of()
{
	"$stackonce" sql --csv --no-symbols "$1" "SELECT stack_key(_kstack) AS k,
		stack_key(_ustack) AS u, count(*) AS n FROM events GROUP BY k, u ORDER BY k, u"
}
keys_of fleet.stk >a.csv
keys_of fleet-other.stk >b.csv
# of the seven stacks, only the one with a frame in a file without an id is of one boot
same=$(sort a.csv b.csv | uniq -d | wc -l)
if [ "$same" -ne 5 ] || [ "$(wc -l <a.csv)" -ne 6 ] || [ "$(wc -l <b.csv)" -ne 6 ]; then
	echo "FAILED: two hosts do not have the same keys"
	diff a.csv b.csv
	failed=1
fi
exit "$failed"
