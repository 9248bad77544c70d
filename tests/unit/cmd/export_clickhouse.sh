#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# export_clickhouse.sh STACKONCE MAKE_RECORDING GOLDEN_DIR DOCUMENT: the rows of a recording are the
# same whatever else is exported or selected, and each event has a key of its own.  The script of
# the document that inserts recordings keeps what was not inserted, and systemd takes its units.
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") golden=$(realpath "$3") document=$(realpath "$4")
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

rows()
{
	"$stackonce" export clickhouse -q --rows "$@" 2>>errors | sed 1d
}

record fleet fleet-other flags hostile
cp "$golden/demo.stk" "$golden/waits.stk" .

# several FILEs are each FILE on its own
"$stackonce" export clickhouse --tables fleet.stk fleet-other.stk >tables
while IFS= read -r table; do
	{
		rows "$table" fleet.stk
		rows "$table" fleet-other.stk
	} >alone
	rows "$table" fleet.stk fleet-other.stk >together
	cmp -s alone together && [ -s alone ] || fail "$table: two recordings are not one and one"
done <tables
rows sched:sched_switch --cpu 1 fleet.stk fleet-other.stk >some
[ "$(cut -f 8 some | sort -u)" = 1 ] && [ "$(cut -f 1 some | sort -u | wc -l)" -eq 2 ] ||
	fail "a selection applies to each recording"
[ "$(wc -l <tables)" -eq 8 ] || fail "tables: $(cat tables)"

# what is selected keeps its keys
rows sched:sched_switch demo.stk | sort >all
[ "$(cut -f 2-4 all | sort -u | wc -l)" -eq 5287 ] || fail "keys are not unique"
for select in '--time 20%,30%' '--cpu 0' '--comm gzip' '--filter prev_pid==18' \
	'-e sched_switch,sched_process_exit --pid 1-100'; do
	# shellcheck disable=SC2086 # options
	rows sched:sched_switch demo.stk $select | sort >some
	[ -s some ] || fail "$select selects nothing"
	[ -z "$(comm -13 all some)" ] || fail "$select changes rows"
done

# of all types of a block
"$stackonce" export clickhouse --tables demo.stk | grep : | while IFS= read -r table; do
	rows "$table" demo.stk
done | cut -f 2-4 | sort >keys
[ "$(sort -u keys | wc -l)" -eq 6247 ] && [ "$(wc -l <keys)" -eq 6247 ] ||
	fail "$(wc -l <keys) rows, $(sort -u keys | wc -l) keys"

# symbols that are added later change names, not keys
"$stackonce" symbolize -q fleet-other.stk -o later.stk 2>/dev/null
for table in syscalls:sys_enter_futex stacks; do
	rows "$table" fleet-other.stk | cut -f 1-4 >before
	rows "$table" later.stk | cut -f 1-4 >after
	cmp -s before after || fail "symbolize changes the keys of $table"
done

# rows that do not have the columns of the statement
"$stackonce" export clickhouse --rows syscalls:sys_enter_futex waits.stk fleet.stk >out 2>err &&
	fail "other fields follow the same statement"
grep -q "'fleet.stk': the fields of syscalls:sys_enter_futex are not those" err || cat err

# a field has the same column as in sql, also one whose name differs from another only in case
"$stackonce" sql --csv fleet.stk "SELECT name FROM pragma_table_info('syscalls:sys_enter_futex')" |
	tr -d '\r' | sed '1,/^_ustack/d' >want
"$stackonce" export clickhouse -q --rows syscalls:sys_enter_futex fleet.stk | head -n 1 |
	grep -o '`[^`]*`' | tr -d '`' | sed '1,/^_ustack/d' >got
grep -q '^VAL#5$' want && cmp -s want got || fail "columns: $(cat got), and in sql: $(cat want)"

# each name that is printed has rows, whatever it is
"$stackonce" export clickhouse --tables hostile.stk | while IFS= read -r table; do
	rows "$table" hostile.stk | grep -q . || printf "%s\n" "$table"
done >without
[ ! -s without ] || fail "tables without rows: $(cat without)"

# no rows are no statement
"$stackonce" export clickhouse --rows losses demo.stk >out 2>err || fail "no losses"
[ ! -s out ] && [ "$(cat err)" = '0 rows of losses' ] || fail "no losses: $(cat out err)"

# an output file, and one that must not be replaced
"$stackonce" export clickhouse -q --rows types fleet.stk -o out || fail "an output file"
head -n 1 out | grep -q '^INSERT INTO' || fail "no statement in the output file"
"$stackonce" export clickhouse -q --rows types fleet.stk demo.stk -o demo.stk 2>/dev/null &&
	fail "a recording is replaced"
"$stackonce" export clickhouse -q --rows types fleet.stk nosuch.stk -o other 2>/dev/null &&
	fail "a missing recording"
[ ! -e other ] || fail "part of the rows is left"

# the script that inserts, and a server that answers 400 to rows of one host
sed -n '/^```sh insert$/,/^```$/p' "$document" | grep -v '^```' >insert.sh
mkdir bin finished
ln -s "$stackonce" bin/stackonce
cat >bin/curl <<-'CURL'
	#!/bin/sh
	[ -z "$CURL_FAILS" ] || exit "$CURL_FAILS"
	! grep -q web2
CURL
chmod +x bin/curl

# insert EXIT FILES: by a curl that fails like that, or "" for the server
insert()
{
	PATH=$dir/bin:$PATH DIR=finished URL=x CURL_FAILS=$1 bash insert.sh 2>err
	code=$?
	got=$(cd finished && echo *)
	[ "$got" = "$2" ] || fail "insert, curl fails with '$1': left are $got: $(cat err)"
	return $code
}

cp fleet-other.stk finished/1.stk
cp fleet.stk finished/2.stk
cp fleet.stk finished/3.stk
printf x | dd of=finished/3.stk bs=1 seek=1500 conv=notrunc 2>/dev/null
echo none >finished/4.stk
cp fleet.stk finished/5.stk
insert 7 '1.stk 2.stk 3.stk 4.stk 5.stk' && fail "no server, and inserting succeeds"
insert '' '1.stk 3.stk.failed 4.stk.failed' && fail "a refused recording, and inserting succeeds"
rm finished/1.stk
insert '' '3.stk.failed 4.stk.failed' || fail "insert nothing: $(cat err)"

# The units of the document; the programs that they start are where they are built.
mkdir units
awk '/^```/ { on = $0 == "```ini"; name = ""; next }
	on && /^# \/etc\/systemd\/system\// { name = "units/" substr($0, index($0, "stackonce")) }
	name { print >name }' "$document"
[ "$(cd units && echo *)" = 'stackonce-insert.path stackonce-insert.service stackonce.service' ] ||
	fail "the units of the document: $(ls units)"
sed -i "s|=/usr/local/bin/stackonce |=$stackonce |" units/*
if command -v systemd-analyze >/dev/null; then
	# it prints what it does not know, and may return 0
	systemd-analyze verify units/* >out 2>&1 && [ ! -s out ] || fail "units: $(cat out)"
	sed 's/^RestartSec=/RestartSecond=/' units/stackonce-insert.service >units/wrong.service
	systemd-analyze verify units/wrong.service >out 2>&1
	[ -s out ] || fail "systemd-analyze accepts an unknown name"
else
	left_out "units: there is no systemd-analyze to verify them"
fi
finish
