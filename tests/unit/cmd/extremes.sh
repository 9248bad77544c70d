#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# extremes.sh STACKONCE EXTREMES: questions about recordings with very many groups, very long texts,
# very deep stacks and very large numbers.  Each ends with the right answer or with a message,
# within the limits of limits.h.
set -u
so=$(realpath "$1")
make=$(realpath "$2")
dir=$(mktemp -d "${TMPDIR:-/tmp}/extremes.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
LC_ALL=C.UTF-8
export LC_ALL
failed=0
# shellcheck source=tests/unit/cmd/page.sh
. "$(dirname "$0")/page.sh"

"$make" "$dir" || exit 1
cd "$dir" || exit 1

# check CODE PATTERN ARGS...: the exit code, and what standard output or the messages contain
check()
{
	code=$1 pattern=$2
	shift 2
	is_left_out "$@" && return
	rc=0
	"$LIMITED" "$so" "$@" >out 2>err </dev/null || rc=$?
	if [ "$rc" -eq "$code" ] && cat out err | grep -qaE -e "$pattern"; then
		echo "ok $*"
		return
	fi
	echo "not ok $*: exit $rc, expected $code and '$pattern'"
	head -n 3 err
	head -c 600 out
	failed=1
}

# quiet ARGS...: the last command had no message
quiet()
{
	if [ -s err ]; then
		echo "not ok: an unexpected message"
		head -n 3 err
		failed=1
	fi
}

refused='asks for more memory or work than a recording of its size can need'

# 100,000 and 1,000,000 groups
check 0 '^# 100,000 events' report --by value groups.stk
check 0 '^# 100,000 events' report --by value --weigh number:p99 groups.stk
quiet
check 0 '^value 9223[0-9]+  sum number ' report --by value --weigh number:hist groups.stk
check 0 '^value 9223[0-9]+  1 event ' report --by value --flat groups.stk
check 0 '"value":9223' report --by value,number,time,tid --json groups.stk
check 0 '^value 9223[0-9]+;\[no stack\] 1$' report --by value --folded groups.stk
check 0 '</svg>' report --by value --flamegraph - groups.stk
check 1 "$refused" report --by value million.stk
check 0 '^1000000' sql -i million.stk --csv \
	'SELECT count(*) FROM (SELECT value FROM "x:number" GROUP BY value)'
check 0 '^50[0-3][0-9]{3}' sql -i million.stk --csv \
	'SELECT percentile(number, 50) FROM "x:number"'
check 0 '^[0-9]+,999999,1' sql -i million.stk --csv \
	'SELECT value, percentile(number, 99), count(*) FROM "x:number" GROUP BY value'
check 1 'too big' sql -i million.stk 'SELECT zeroblob(500000000)'

# texts of 65,000 characters
check 0 'x0000199  1 event ' report --by text texts.stk
check 0 'x0000199"' report --by text --json texts.stk
check 1 "$refused" report --by text many_texts.stk
check 0 '^4000' sql -i many_texts.stk --csv 'SELECT count(DISTINCT text) FROM "x:text"'
check 1 'too big' sql -i many_texts.stk 'SELECT group_concat(text) FROM "x:text"'

# 0, 1, 2^63 - 1, 2^63 and 2^64 - 1: their sum has 66 bits
check 0 '^# sums of .value. of more than .*shares are too large' report --weigh value values.stk
quiet
check 0 '^stackonce: warning: sums of .value. of more than' report --weigh value --json values.stk
check 0 'avg value 9,223,372,036,854,775,807, 6 events' report --weigh value:avg values.stk
check 0 'max value 18,446,744,073,709,551,615, ' report --weigh value:max values.stk
check 0 '\[9223372036854775808,18446744073709551615,3\]' report --weigh value:hist --json values.stk
check 0 '\[9223372036854775808,18446744073709551615,3000\]' \
	report --weigh value:hist --json counted_values.stk
check 0 '^ +0 \.\. {25}0 ' report --weigh value:hist values.stk
check 0 '^# 3 events with a negative .number. left out' report --weigh number:hist values.stk
check 0 'avg value 9,223,372,036,854,775,807, 6,000 events' report --weigh value:avg \
	counted_values.stk
for how in avg p99; do
	check 0 '6 of 6 events without a stack' report --weigh "value:$how" --flat values.stk
	check 0 'no stack' report --weigh "value:$how" --tree values.stk
done

# percentiles of nothing, and what is no percentage or no number
check 0 '^[[:space:]]*$' sql -i values.stk --csv \
	'SELECT percentile(value, 50) FROM "x:number" WHERE 0'
for p in NULL "'nan'" 1e999 9e999-9e999 -1 100.1; do
	check 1 'P is a number from 0 to 100' sql -i groups.stk \
		"SELECT percentile(value, $p) FROM \"x:number\""
done
check 1 'X is an integer that is not negative' sql -i values.stk \
	'SELECT percentile(value, 50) FROM "x:number"'
check 1 'X is an integer that is not negative' sql -i values.stk \
	'SELECT percentile(0.5, 50) FROM "x:number"'

# 512 kernel frames and 512 user frames, and a function that calls itself
check 0 '^ *400 +100.00% ' report --flat --min 0 --kernel --event tick --no-symbols deep.stk
check 1 "$refused" report --tree --min 0 --no-symbols deep.stk
check 0 'recurse.*recurse.*recurse' report --folded --no-symbols deep.stk
check 0 'of 800 events' annotate --children --no-symbols -i deep.stk recurse
check 0 '^[0-9]{5}' sql -i deep.stk --no-symbols --csv 'SELECT max(length(stack(id))) FROM stacks'

# 4,000 stacks of 512 frames, each of which counts as a function
for command in 'report --flat' 'report --tree' 'report --folded' 'report --follow' 'view -o -'; do
	# shellcheck disable=SC2086 # a command and its options
	check 1 "$refused" $command addresses.stk
done
check 1 "$refused" diff --all addresses.stk addresses.stk
check 0 '^view.html: .* 4,000 events and 0 pairs$' view -o view.html many_texts.stk
check 0 ' 1,000,000 events ' view -o view.html million.stk

# each recording pays for what comparing its own stacks costs
check 0 '^# b +functions.stk' diff --all --no-symbols deep.stk functions.stk
check 0 '^# b +deep.stk' diff --all --no-symbols functions.stk deep.stk
check 0 '-1.252  +gone' diff --all --no-symbols deep.stk empty.stk
check 0 '^There are no events to compare' diff --all empty.stk empty.stk
check 0 '</svg>' diff --flamegraph - functions.stk empty.stk

# functions of 2^63 bytes, and some that end beyond the last address
check 0 '^# half: ' annotate --no-symbols functions.stk half
check 1 "'all' is the name of 2 functions" annotate --children --no-symbols functions.stk all
check 0 '"off":[0-9]+' annotate --children --json --user --no-symbols functions.stk beyond@large
check 0 '^\{"type":"function".*"size":' annotate --children --json --kernel --no-symbols \
	functions.stk beyond

# stacks that are aliases of one another, and code that replaces what it was replaced by
check 0 '^x:number +3 events' report --no-symbols cycles.stk
check 0 '^\{"type":"stack"' stacks --json --no-symbols cycles.stk
check 0 '^[0-9]' sql -i cycles.stk --csv --no-symbols \
	'SELECT *, stack(_ustack), stack(_kstack) FROM events'

# formats of 250 fields, 8,000 of them
for command in 'report --by f1' 'script --fields f1' 'report --filter f1==0' 'script --json'; do
	# shellcheck disable=SC2086 # a command and its options
	check 1 "$refused" $command formats.stk
done

# nothing
check 0 'has no events' report --by value empty.stk
check 0 'has no events' report --weigh value:p99 --tree empty.stk
check 1 'has no events' annotate empty.stk half
check 0 '^ts,end_ts' sql -i empty.stk --csv "SELECT * FROM pairs('*', '*')"

end
