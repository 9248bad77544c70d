#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs the reading commands on small recordings and compares what they print with tests/golden/cmd.
#   golden.sh STACKONCE MAKE_RECORDING SPLIT_RECORDING GOLDEN_DIR  compare
#   UPDATE=1 golden.sh ...  update the files (then review the diff)
# A golden file holds standard output, then standard error as "[stderr] LINE", then "[exit CODE]".
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") split=$(realpath "$3") golden=$(realpath "$4")
so=$stackonce
# shellcheck source=tests/unit/cmd/page.sh
. "$(dirname "$0")/page.sh"
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

record small empty long abrupt hostile aliases losses flags strings user user-hostile \
	guesses late-types latency lifecycle zombies wakers selected stalls addresses annotate \
	before after rebuilt quick slow profile fleet fleet-other
cp small.stk trace.stk
cp "$golden/../rmap.stk" "$golden/../waits.stk" .
"$split" hosts 2 latency.stk host && "$split" time 2 latency.stk segment &&
	cp waits.stk copy.stk || exit 1
printf 'this is no recording, but it is long enough for a header of sixty-four bytes\n' >garbage.stk
: >nothing.stk
head -c 40 small.stk >header-cut.stk

# Removes what depends on the build, the compression library and the time.
hide_changing()
{
	# the 144 events are of two files that are placed by the times when they were made
	sed -E -e 's/^(# 144 events, recorded in ).*/\1TIME/' \
		-e 's/^(Recorded +)[0-9-]+ [0-9:]+ \+0000/\1TIME/' \
		-e 's/^stackonce [0-9.]+$/stackonce VERSION/' \
		-e 's/"version":"[0-9.]+"/"version":"VERSION"/' \
		-e 's/^uuid: [0-9a-f]+$/uuid: UUID/' -e 's/"uuid":"[0-9a-f]+"/"uuid":"UUID"/' \
		-e 's/, [0-9.]+ k?[KM]?B,/, SIZE,/' \
		-e 's/[0-9.]+ bytes per event, [0-9.]+ of them/N bytes per event, N of them/' \
		-e 's/("(event_)?bytes(_per_event)?"):[0-9.]+/\1:0/g'
}

nr=0
while read -r name args; do
	case $name in
	'' | '#'*) continue ;;
	esac
	# shellcheck disable=SC2086 # the words of a case are its arguments
	eval "set -- $args"
	is_left_out "$@" && continue
	"$stackonce" "$@" >out 2>err </dev/null
	code=$?
	{
		hide_changing <out
		sed 's/^/[stderr] /' err
		echo "[exit $code]"
	} >"$name.got"
	nr=$((nr + 1))
	case $name in
	*json) jq -es 'all(type == "object")' <out >/dev/null || code=999 ;;
	esac
	if [ "$code" -gt 2 ]; then
		echo "FAILED: $name: stackonce $args: exit $code"
		failed=$((failed + 1))
	fi
	if [ -n "${UPDATE-}" ]; then
		cp "$name.got" "$golden/$name.txt"
	elif ! diff -u "$golden/$name.txt" "$name.got"; then
		echo "FAILED: $name: stackonce $args"
		failed=$((failed + 1))
	fi
done <"$golden/cases"

# Every golden file belongs to a case.
for file in "$golden"/*.txt; do
	name=$(basename "$file" .txt)
	if ! grep -q "^$name " "$golden/cases"; then
		echo "FAILED: $file belongs to no case"
		failed=$((failed + 1))
	fi
done
echo "$nr cases, $failed failed"
[ "$nr" -gt 0 ] || exit 1
end
