#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# clickhouse.sh STACKONCE MAKE_RECORDING GOLDEN_DIR DOCUMENT: ClickHouse has the events, stacks,
# fields and losses that `stackonce sql` has; what is inserted again counts once; a stack of two
# hosts is one row; the queries of the document run.
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") golden=$(realpath "$3") document=$(realpath "$4")
here=$(realpath "$(dirname "$0")")
LC_ALL=C.UTF-8
export LC_ALL
# shellcheck source=tests/judges/clickhouse_server.sh
. "$here/clickhouse_server.sh"
clickhouse_find || exit 77
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/clickhouse.XXXXXX") || exit 1
trap 'clickhouse_stop "$dir/0"; clickhouse_stop "$dir/1"; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

fail()
{
	echo "FAILED: $*"
	failed=1
}

# schema DATABASE FILE...: the statements for Debian's server; see stackonce-export(1)
schema()
{
	db=$1
	shift
	"$stackonce" export clickhouse --schema "$@" | sed -e 's/ CODEC([^)]*)//' -e '/^ALTER/d' \
		-e 's/LowCardinality(UUID)/UUID/' -e "s/currentDatabase()/'$db'/"
}

# insert NR DATABASE FILE...: all rows of the recordings
insert()
{
	nr=$1 db=$2
	shift 2
	for file; do
		for table in $("$stackonce" export clickhouse --tables "$file"); do
			"$stackonce" export clickhouse -q --rows "$table" "$file" 2>/dev/null |
				curl -sS -f -X POST -T - "$(ch_url "$nr")?database=$db" ||
				fail "insert the rows of $table of $file"
		done
	done
}

# equal NAME A B
equal()
{
	if cmp -s "$2" "$3" && [ -s "$2" ]; then
		echo "ok $1: $(wc -l <"$2") rows"
		return
	fi
	fail "$1"
	diff "$2" "$3" | head -n 10
}

# same NAME FILE SQLITE_QUERY CLICKHOUSE_QUERY: both print the same lines, in any order
same()
{
	"$stackonce" sql --csv --no-symbols "$2" "$3" | sed 1d | tr -d '"\r' | tr ',' '\t' | sort >a
	echo "$4" | ch_query 0 -d "$db" | sort >b
	equal "$1" a b
}

# ---- one recording, all of it -----------------------------------------------------------------

fields_of()
{
	"$stackonce" sql --csv "$1" "SELECT name, type FROM pragma_table_info('$2')
		WHERE name NOT GLOB '_[a-z]*'" | sed 1d | tr -d '"\r'
}

# The sum of what is not too large to be added, and the length of text.
check_fields()
{
	fields_of "$1" "$2" | while IFS=, read -r name type; do
		case $type in
		BLOB) continue ;;
		TEXT) sqlite="length(CAST(\"$name\" AS BLOB))" clickhouse="length(\`$name\`)" ;;
		*) sqlite="\"$name\" % 1000003" clickhouse="toInt64(\`$name\`) % 1000003" ;;
		esac
		same "${1##*/}: $2: $name" "$1" \
			"SELECT coalesce(sum($sqlite), 0), count(\"$name\") FROM \"$2\"" \
			"SELECT sum(ifNull($clickhouse, 0)), count(\`$name\`) FROM \`$2\` FINAL
				WHERE _recording = '$uuid'"
	done >fields
	cat fields
	! grep -q '^FAILED' fields || failed=1
}

# check DATABASE FILE
check()
{
	db=$1
	shift
	uuid=$("$stackonce" info --json "$1" | head -n 1 | jq -r '.uuid // .meta.uuid' |
		sed -E 's/(.{8})(.{4})(.{4})(.{4})/\1-\2-\3-\4-/')
	key="replaceAll(toString(_kstack), '-', ''), replaceAll(toString(_ustack), '-', '')"
	none=00000000000000000000000000000000
	same "${1##*/}: events" "$1" "SELECT _event, _cpu, _tid, _comm, count(*), min(_ts),
			sum(_ts % 1000003) FROM events GROUP BY 1, 2, 3, 4" \
		"SELECT _event, _cpu, _tid, _comm, count(), min(_ts), sum(_ts % 1000003)
			FROM events FINAL WHERE _recording = '$uuid'
			GROUP BY _event, _cpu, _tid, _comm"
	same "${1##*/}: stacks" "$1" "SELECT coalesce(stack_key(_kstack), '$none') AS k,
			coalesce(stack_key(_ustack), '$none') AS u, count(*)
			FROM events GROUP BY k, u" \
		"SELECT $key, count() FROM events FINAL WHERE _recording = '$uuid'
			GROUP BY _kstack, _ustack"
	same "${1##*/}: counters" "$1" "SELECT * FROM types" \
		"SELECT event, filter, happened, recorded, filtered, lost FROM types FINAL
			WHERE recording = '$uuid'"
	same "${1##*/}: losses" "$1" "SELECT 'losses', count(*), coalesce(sum(count), 0),
			coalesce(sum(first_ts % 1000003), 0) FROM losses" \
		"SELECT 'losses', count(), sum(ifNull(count, 0)), sum(first_ts % 1000003)
			FROM losses FINAL WHERE recording = '$uuid'"
	for table in $("$stackonce" export clickhouse --tables "$1" | grep :); do
		check_fields "$1" "$table"
	done
}

# Every stack of an event is there, and every frame of a stack.
check_references()
{
	no_stack="toUUID('00000000-0000-0000-0000-000000000000')"
	echo "SELECT count() FROM events
		WHERE _kstack != $no_stack AND _kstack NOT IN (SELECT key FROM stacks);
	SELECT count() FROM events
		WHERE _ustack != $no_stack AND _ustack NOT IN (SELECT key FROM stacks);
	SELECT count() FROM (SELECT arrayJoin(frames) AS frame FROM stacks)
		WHERE frame NOT IN (SELECT key FROM frames)" | ch_query 0 -d "$1" >missing
	[ "$(sort -u missing)" = 0 ] || fail "stacks or frames are missing: $(cat missing)"
}

for kind in fleet fleet-other losses strings user latency; do
	"$make" "$kind" "$kind.stk" || exit 1
done
cp "$golden/demo.stk" "$golden/waits.stk" "$golden/rmap.stk" .
files='demo.stk waits.stk rmap.stk losses.stk strings.stk user.stk latency.stk'
clickhouse_start "$dir/0" 0 && clickhouse_start "$dir/1" 1 || exit 1
for db in one two; do
	echo "CREATE DATABASE $db" | ch_query 0
done
# shellcheck disable=SC2086 # a list of files
schema one $files | ch_query 0 -d one || fail "the schema"
# other fields of the same event: another database
schema two fleet.stk | ch_query 0 -d two || fail "the schema"
# shellcheck disable=SC2086
insert 0 one $files demo.stk
insert 0 two fleet.stk
for file in $files; do
	check one "$file"
done
check two fleet.stk
check_references one
check_references two
"$stackonce" export clickhouse --rows syscalls:sys_enter_futex waits.stk fleet.stk >rows 2>error &&
	fail "rows of other columns follow one INSERT"

# ---- a server that is killed ------------------------------------------------------------------

events=${EVENTS:-400000}
"$make" large large.stk "$events" 2000 || exit 1
echo "CREATE DATABASE big" | ch_query 1
schema big large.stk | ch_query 1 -d big
insert 1 big large.stk >/dev/null 2>&1 &
inserter=$!
stored=0
for _ in $(seq 600); do
	stored=$(echo 'SELECT count() FROM events' | ch_query 1 -d big 2>/dev/null || echo 0)
	[ "${stored:-0}" -eq 0 ] || break
	sleep 0.02
done
clickhouse_kill "$dir/1"
wait "$inserter" 2>/dev/null
clickhouse_start "$dir/1" 1 || exit 1
partly=$(echo 'SELECT count() FROM events' | ch_query 1 -d big)
[ "$partly" -gt 0 ] && [ "$partly" -lt "$events" ] ||
	echo "note: the server had $partly of $events events when it was killed"
insert 1 big large.stk
got=$(echo 'SELECT count() FROM events FINAL' | ch_query 1 -d big)
if [ "$got" -eq "$events" ]; then
	echo "ok killed with $partly of $events events, then inserted again: $got"
else
	fail "killed with $partly events, then inserted again: $got of $events"
fi

# ---- sizes and times, printed -----------------------------------------------------------------

table=$("$stackonce" export clickhouse --tables large.stk | grep : | head -n 1)
echo "OPTIMIZE TABLE \`$table\` FINAL" | ch_query 1 -d big
echo "SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts
	WHERE database = 'big' AND table = '$table' AND active" | ch_query 1 >bytes
echo "# $(cat bytes) bytes per event, compressed, of $events events $table"
echo "CREATE TABLE many AS \`$table\` ENGINE = MergeTree
	ORDER BY (_host, _recording, _block, _row)" | ch_query 1 -d big
for i in $(seq $((${MANY:-10000000} / events))); do
	echo "INSERT INTO many SELECT * FROM \`$table\`" |
		ch_query 1 -d big --min_insert_block_size_rows 1000000 || fail "copy $i"
done
echo "SELECT _kstack, count() AS n FROM many GROUP BY _kstack ORDER BY n DESC LIMIT 5" |
	ch_query 1 -d big --time >top 2>seconds
echo "# group by stack over $(echo 'SELECT count() FROM many' | ch_query 1 -d big) events:" \
	"$(cat seconds) s"
echo "DROP TABLE many" | ch_query 1 -d big

# ---- two shards -------------------------------------------------------------------------------

# The statements of the document, for each server.
sed -n '/^```sh shards$/,/^```$/p' "$document" | grep -v '^```' >shards.sh
[ -s shards.sh ] || fail "the document does not say how shards are made"
for nr in 0 1; do
	(
		stackonce_schema()
		{
			schema shard "$@"
		}
		client()
		{
			ch_query "$nr" "$@"
		}
		recordings='demo.stk fleet.stk fleet-other.stk'
		# shellcheck disable=SC1091 # made above
		. ./shards.sh
	) || fail "make the tables of shard $nr"
done
insert 0 fleet fleet.stk
insert 1 fleet fleet-other.stk
insert 1 fleet fleet.stk
insert 0 fleet demo.stk

shards=$(for nr in 0 1; do
	echo 'SELECT count() FROM shard.stacks FINAL' | ch_query "$nr"
done | tr '\n' ' ')
echo "SELECT count(), uniqExact(key) FROM fleet.stacks FINAL" | ch_query 0 >stacks
read -r rows keys <stacks
[ "$rows" -eq "$keys" ] && [ "$rows" -gt 5 ] || fail "$rows rows of $keys stacks"
case " $shards" in
*' 0 '*) fail "all stacks are on one shard: $shards" ;;
esac
echo "ok $rows rows of $keys stacks on two shards: $shards"
echo "SELECT count(), uniqExact(_host) FROM fleet.events FINAL
	WHERE _host LIKE 'web%'" | ch_query 0 >events
[ "$(tr '\t' ' ' <events)" = '400 2' ] || fail "events of two hosts: $(cat events)"
echo "SELECT max(hosts) FROM (SELECT _kstack, uniqExact(_host) AS hosts FROM fleet.events
	WHERE _host LIKE 'web%' GROUP BY _kstack)" | ch_query 1 >hosts
[ "$(cat hosts)" = 2 ] || fail "no stack is of both hosts"
# one of the recordings lacks the names of the application
echo "SELECT count() FROM fleet.stacks FINAL WHERE has(functions, 'main')" | ch_query 0 >named
[ "$(cat named)" -ge 5 ] || fail "names of functions that one of two recordings has"

# ---- what inserts finished recordings ---------------------------------------------------------

sed -n '/^```sh insert$/,/^```$/p' "$document" | grep -v '^```' >insert.sh
mkdir finished bin
ln -s "$stackonce" bin/stackonce
echo "TRUNCATE TABLE shard.\`sched:sched_switch\`" | ch_query 0
echo "TRUNCATE TABLE shard.\`sched:sched_switch\`" | ch_query 1
cp fleet.stk fleet-other.stk finished/
# a copy of which one block is damaged: the rows of the others are those of the recording
cp fleet.stk finished/damaged.stk
printf x | dd of=finished/damaged.stk bs=1 seek=1500 conv=notrunc 2>/dev/null
# one with events for which there is no table
cp rmap.stk finished/
PATH=$dir/bin:$PATH DIR=finished URL="http://127.0.0.1:1/" bash insert.sh 2>/dev/null &&
	fail "the server does not answer, and inserting succeeds"
[ "$(ls finished | wc -l)" -eq 4 ] || fail "recordings that were not inserted are gone"
url="$(ch_url 0)?database=fleet&insert_distributed_sync=1"
PATH=$dir/bin:$PATH DIR=finished URL=$url bash insert.sh 2>error &&
	fail "the server refuses a recording, and inserting succeeds"
grep -q '^finished/rmap.stk: the rows of rmap:.* were not inserted$' error ||
	fail "a refused recording: $(cat error)"
[ "$(echo finished/*)" = 'finished/damaged.stk.failed finished/rmap.stk' ] ||
	fail "inserted recordings are left: $(ls finished)"
rm finished/rmap.stk
PATH=$dir/bin:$PATH DIR=finished URL=$url bash insert.sh 2>error ||
	fail "insert nothing: $(cat error)"
got=$(echo "SELECT count() FROM fleet.\`sched:sched_switch\` FINAL" | ch_query 1)
[ "$got" = 80 ] || fail "$got events of 80 were inserted"

# ---- the queries of the document --------------------------------------------------------------

awk '/^```sql$/ { on = 1; n++; next } /^```$/ { on = 0 } on { print >("query." n) }' "$document"
nr=0
for query in query.*; do
	[ -f "$query" ] || break
	nr=$((nr + 1))
	# the time of the recordings
	sed -e "s/now()/toDateTime('2026-09-21 15:00:00', 'UTC')/g" "$query" |
		ch_query $((nr % 2)) -d fleet >answer 2>error || fail "$query: $(cat error)"
	[ -s answer ] || fail "$query of the document has no answer: $(cat "$query")"
done
[ "$nr" -ge 10 ] || fail "the document has $nr queries"
echo "ok $nr queries of the document"
exit "$failed"
