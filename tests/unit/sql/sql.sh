#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# stackonce sql: its answers are those of SQLite on the same rows; what a query may do and use.
#   sql.sh STACKONCE MAKE_RECORDING PYTHON
set -u
here=$(cd "$(dirname "$0")" && pwd)
so=$(realpath "$1") make=$(realpath "$2") python=$3
golden=$here/../../golden
# shellcheck source=tests/unit/cmd/lib.sh
. "$here/../cmd/lib.sh"
TMPDIR=$dir/temporary
export TMPDIR
mkdir "$TMPDIR"

# is WANT WHAT COMMAND...: what it prints is WANT
is()
{
	want=$1 what=$2
	shift 2
	got=$("$@" 2>err)
	[ "$got" = "$want" ] || fail "$what: '$got', not '$want': $(cat err)"
}

record small addresses flags user latency losses aliases hostile strings guesses replaced
"$python" "$here/sql_equals.py" "$so" "$here/../../../docs/sql.md" "$here/queries.sql" \
	"$golden/demo.stk" "$golden/waits.stk" small.stk addresses.stk flags.stk user.stk \
	latency.stk losses.stk aliases.stk strings.stk guesses.stk replaced.stk ||
	fail "answers differ"

"$python" "$here/sql_report.py" "$so" small.stk addresses.stk flags.stk user.stk latency.stk \
	losses.stk strings.stk guesses.stk replaced.stk "$golden/demo.stk" "$golden/waits.stk" ||
	fail "queries of report differ"

"$python" "$here/sql_names.py" "$so" "$here/../../../docs/sql.md" \
	"$here/../../../man/stackonce-sql.1" small.stk || fail "the lists of tables and functions"

# Pairs are those of latency.
is "$("$so" latency --start sys_enter --end sys_exit --json latency.stk |
	jq -s 'map(select(.type == "group")) | map(.count) | add')" "pairs" \
	sh -c "'$so' sql --csv latency.stk \"SELECT count(*) FROM pairs('sys_enter', 'sys_exit')\" |
		sed 1d | tr -d '\r'"

# Joins scan the events once: they are the outer loop, or what they are joined with is indexed.
once='SCAN [sf] VIRTUAL TABLE INDEX 1:|SEARCH t USING AUTOMATIC'
for query in 'stacks s JOIN events e ON e._kstack = s.id' \
	'tasks t JOIN events e ON e._tid = t.tid' \
	'frames f JOIN stacks s ON f.stack = s.id JOIN events e ON e._kstack = s.id' \
	'(SELECT max(_ts), _tid FROM events GROUP BY 2) t JOIN events e USING (_tid)'; do
	"$so" sql --csv "$golden/demo.stk" "EXPLAIN QUERY PLAN SELECT * FROM $query" >out
	grep -A 1 'SCAN e ' out | grep -q -E "$once" ||
		fail "the plan of $query: $(cat out)"
done

# A saved file has the same rows.
"$so" sql --save saved.sqlite "$golden/demo.stk" || fail "--save"
for table in events stacks frames files types losses '"sched:sched_switch"'; do
	"$so" sql --csv "$golden/demo.stk" "SELECT * FROM $table" >want 2>/dev/null
	"$python" - "$table" saved.sqlite >got <<-'END'
		import csv, sqlite3, sys
		db = sqlite3.connect(sys.argv[2])
		rows = db.execute(f"SELECT * FROM {sys.argv[1]}")
		kinds = {c[0]: None for c in rows.description}
		name = sys.argv[1].strip('"')
		for row in db.execute("SELECT name, type FROM pragma_table_info(?)", [name]):
		    kinds[row[0]] = row[1]
		out = csv.writer(sys.stdout)
		out.writerow(kinds)
		for row in rows:
		    codes = [isinstance(v, int) and kinds[k][:4] in ("ADDR", "CODE")
		             for k, v in zip(kinds, row)]
		    out.writerow([hex(v % 2**64) if c else v for c, v in zip(codes, row)])
	END
	cmp -s want got || fail "--save: $table: $(diff want got | head -n 3)"
done
"$so" sql --save small.stk "$golden/demo.stk" 2>err && fail "--save replaced a recording"
[ "$("$so" info --json small.stk | jq -r .type)" = info ] || fail "--save damaged a recording"
"$so" sql --save /dev/full small.stk 2>err && fail "--save to a device"
"$so" sql --save - small.stk 2>err | head -c 15 >head
grep -q "is not a file" err || fail "--save to a pipe: $(cat err)"

# A growing recording: the events up to the end of the file at each statement, and a table for an
# event type that was not there at first.  The long answers make the first one be written out.
head -c 2000 small.stk >grows.stk
mkfifo in
"$so" sql --csv -i grows.stk <in >out 2>err &
pid=$!
exec 3>in
echo "SELECT count(*) FROM events; SELECT printf('%100000s', 'long') FROM events;" >&3
becomes test -s out || fail "no answer before a recording grows: $(cat err)"
tail -c +2001 small.stk >>grows.stk
echo 'SELECT count(*) FROM events;' >&3
exec 3>&-
wait $pid || fail "a growing recording: $(cat err)"
[ "$(tr -d '\r' <out | grep -x '[0-9][0-9]*' | paste -sd' ')" = '7 9' ] ||
	fail "a growing recording: $(tr -s ' ' <out)"

# --save is one snapshot of a recording that grows when its events are read.
if cc -shared -fPIC -o grows.so -x c - 2>/dev/null <<-'END'; then
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <fcntl.h>
	#include <stdarg.h>
	#include <stdlib.h>
	#include <string.h>
	static int opened(const char *name, int fd)
	{
		static int nr;
		const char *end = strrchr(name, '/');
		if (fd >= 0 && !strcmp(end ? end + 1 : name, "grows.stk") && ++nr == 2)
			return system("unset LD_PRELOAD; cat rest >>grows.stk") ? -1 : fd;
		return fd;
	}
	#define OPEN(of)                                                              \
		int of(const char *name, int flags, ...)                              \
		{                                                                     \
			int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #of);  \
			va_list ap;                                                   \
			va_start(ap, flags);                                          \
			int fd = real(name, flags, va_arg(ap, int));                  \
			va_end(ap);                                                   \
			return opened(name, fd);                                      \
		}
	OPEN(open)
	OPEN(open64)
END
	head -c 2000 small.stk >grows.stk
	tail -c +2001 small.stk >rest
	LD_PRELOAD=$PWD/grows.so "$so" sql --save grown.db grows.stk 2>err ||
		fail "--save: $(cat err)"
	cmp -s small.stk grows.stk || fail "the recording did not grow while it was saved"
	"$python" - grown.db <<-'END' || fail "--save of a growing recording is no snapshot"
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		count = lambda table: db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
		tables = db.execute("SELECT name FROM sqlite_master")
		types = [name for name, in tables if ":" in name]
		events, of_types = count("events"), sum(map(count, types))
		print(f"{events} events, {of_types} in {len(types)} tables of types")
		sys.exit(not 0 < events == of_types < 9)
	END
else
	left_out "a recording that grows while it is saved: there is no cc"
fi

# Ids of an import may begin at 0.
"$python" - "$golden/fsmb/stack_map_bin" <<-'END'
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(struct.pack("<I", 928))
	data[at:at + 4] = bytes(4)
	open("map", "wb").write(data)
END
gzip -dc "$golden/fsmb/trace.txt.gz" | sed 's/<stack_id 928>/<stack_id 0>/' >trace
"$so" import fsmb map -q --trace trace -o zero.stk || fail "import a stack with id 0"
# answer QUERY: the last line
answer()
{
	"$so" sql --csv zero.stk "$1" | tail -n 1 | tr -d '\r'
}
is 1 "a stack with id 0" answer 'SELECT count(*) FROM stacks WHERE id = 0'
is 565 "events with stack 0" answer 'SELECT count(*) FROM events WHERE _kstack = 0'
is 0,565 "events by stack" answer \
	'SELECT * FROM (SELECT _kstack, count(*) FROM events GROUP BY 1 ORDER BY 1) LIMIT 1'
is 565 "functions of stack 0" answer "SELECT count(stack(_kstack)) FROM events WHERE _kstack = 0"

# Empty lines are no statement that the next line belongs to.
printf '\n \n.tables\n\nSELECT 1 AS one;\n\n.columns events\n' | "$so" sql small.stk >out 2>err ||
	fail "empty lines: $(cat err)"
grep -q '^one' out && grep -q '^_kstack' out || fail "empty lines: $(cat out)"

# Ctrl-C ends a query.
"$so" sql small.stk 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
	SELECT count(*) FROM n' >out 2>err &
pid=$!
becomes catches $pid 2 || fail "sql does not catch SIGINT"
kill -INT $pid
wait $pid
[ $? -eq 1 ] && grep -q interrupted err || fail "Ctrl-C: $(cat err)"

# Damage is an error, unless --partial; then the exit status says so.
cp small.stk bad.stk
"$python" - bad.stk <<-'END'
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = struct.unpack_from("<I", data, 12)[0]
	while struct.unpack_from("<H", data, at + 4)[0] != 7:
	    at += 32 + struct.unpack_from("<I", data, at + 8)[0]
	data[at + 40] ^= 1
	open(sys.argv[1], "wb").write(data)
END
"$so" sql bad.stk 'SELECT count(*) FROM events' >out 2>err
[ $? -eq 1 ] || fail "damage is no error"
grep -q -- "--partial" err || fail "damage: $(cat err)"
grep -q '[0-9]' out && fail "damage: a short result: $(cat out)"
"$so" sql bad.stk 'SELECT _comm, count(*) FROM events GROUP BY 1' >out 2>err
[ $? -eq 1 ] && [ ! -s out ] || fail "damage: a short result of groups: $(cat out)"
"$so" sql --partial bad.stk 'SELECT count(*) FROM events' >out 2>err
[ $? -eq 1 ] && grep -q '^ *[0-8]$' out || fail "--partial: $(cat out err)"

# What is sorted goes to files without a name.
"$so" sql small.stk 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000)
	SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(200)) AS y FROM n ORDER BY y)' >out ||
	fail "a sort"
[ -z "$(ls "$TMPDIR")" ] || fail "temporary files: $(ls "$TMPDIR")"

yes 'SELECT 1' | tr -d '\n' | head -c 1100000 | "$so" sql small.stk >out 2>err
[ $? -eq 1 ] && [ "$(cat err)" = "stackonce: a statement is longer than 1024 KiB" ] ||
	fail "a long statement: $(cat err)"

# Without SQLite the other commands work, and sql says what is missing.
if cc -shared -o none.so -x c - 2>/dev/null <<-'END'; then
	#define _GNU_SOURCE
	#include <dlfcn.h>
	#include <string.h>
	void *dlopen(const char *name, int flags)
	{
		void *(*real)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
		return name && strstr(name, "sqlite") ? 0 : real(name, flags);
	}
END
	LD_PRELOAD=$PWD/none.so "$so" sql small.stk 'SELECT 1' >out 2>err
	[ $? -eq 1 ] && grep -q "libsqlite3.so.0 cannot be loaded: install" err ||
		fail "without SQLite: $(cat out err)"
else
	left_out "without SQLite: there is no cc"
fi
finish
