#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# chdb.py LIBCHDB STACKONCE DOCUMENT FILE...: today's ClickHouse takes the schema and the rows of the
# recordings, has as many events and stacks as `stackonce sql`, counts rows that were inserted twice
# once, and answers the queries of the document.
import ctypes
import json
import re
import subprocess
import sys
import tempfile


class Engine:
    """The C interface of chDB, of which only this is used."""

    def __init__(self, library, path):
        self.lib = ctypes.CDLL(library)
        self.lib.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        self.lib.chdb_query_n.restype = ctypes.c_void_p
        self.lib.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                          ctypes.c_char_p, ctypes.c_size_t]
        for name, result in (("chdb_result_buffer", ctypes.c_void_p),
                             ("chdb_result_length", ctypes.c_size_t),
                             ("chdb_result_error", ctypes.c_char_p)):
            getattr(self.lib, name).restype = result
            getattr(self.lib, name).argtypes = [ctypes.c_void_p]
        self.lib.chdb_destroy_query_result.argtypes = [ctypes.c_void_p]
        args = (ctypes.c_char_p * 2)(b"clickhouse", b"--path=" + path.encode())
        self.connection = self.lib.chdb_connect(2, args)

    def close(self):
        self.lib.chdb_close_conn.argtypes = [ctypes.c_void_p]
        self.lib.chdb_close_conn(self.connection)

    def query(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        result = self.lib.chdb_query_n(self.connection[0], data, len(data), b"TabSeparated", 12)
        error = self.lib.chdb_result_error(result)
        if error:
            raise RuntimeError(f"{text[:300]!r}: {error.decode(errors='replace')[:500]}")
        length = self.lib.chdb_result_length(result)
        answer = ctypes.string_at(self.lib.chdb_result_buffer(result), length) if length else b""
        self.lib.chdb_destroy_query_result(result)
        return answer.decode(errors="replace").splitlines()

    def statements(self, text):
        for statement in text.split(";\n"):
            if statement.strip():
                self.query(statement)


def run(*args):
    return subprocess.run(args, check=True, capture_output=True).stdout


def sql(stackonce, path, query):
    lines = run(stackonce, "sql", "--json", "--no-symbols", path, query).decode().splitlines()
    return sorted("\t".join(str(v) for v in json.loads(line)["values"].values())
                  for line in lines)


def check(engine, stackonce, path):
    uuid = json.loads(run(stackonce, "info", "--json", path).splitlines()[0])["meta"]["uuid"]
    stored = f"FROM events FINAL WHERE replaceAll(toString(_recording), '-', '') = '{uuid}'"
    none = 32 * "0"
    pairs = [
        ("events", "SELECT _event, _comm, count(*), min(_ts) FROM events GROUP BY 1, 2",
         f"SELECT _event, _comm, count(), min(_ts) {stored} GROUP BY ALL"),
        ("stacks", f"""SELECT coalesce(stack_key(_kstack), '{none}') AS k,
             coalesce(stack_key(_ustack), '{none}') AS u, count(*) FROM events GROUP BY k, u""",
         f"""SELECT replaceAll(toString(_kstack), '-', ''), replaceAll(toString(_ustack), '-', ''),
             count() {stored} GROUP BY _kstack, _ustack"""),
    ]
    for name, ours, theirs in pairs:
        want, got = sql(stackonce, path, ours), sorted(engine.query(theirs))
        if want != got or not want:
            print(f"FAILED: {path}: {name}: {want[:3]}, not {got[:3]}")
            return 1
    print(f"ok {path}")
    return 0


def check_keys(engine):
    """ClickHouse computes the key of a stack from those of its frames, too."""
    ends = "['complete', 'truncated', 'at_limit', 'failed', 'no_table', 'unreadable', 'fallback', " \
        "'not_recorded']"
    wrong = engine.query(f"""SELECT count(), countIf(lower(left(hex(SHA256(concat('S', char(1),
        char(indexOf({ends}, ends) - 1), reinterpretAsString(toUInt32(length(frames))),
        repeat(char(0), 4 - length(reinterpretAsString(toUInt32(length(frames))))),
        unhex(replaceAll(arrayStringConcat(arrayMap(f -> toString(f), frames)), '-', ''))))), 32))
        != replaceAll(toString(key), '-', '')) FROM stacks FINAL""")[0].split("\t")
    if wrong[1] != "0":
        print(f"FAILED: {wrong[1]} of {wrong[0]} keys are not those that ClickHouse computes")
    else:
        print(f"ok {wrong[0]} keys of stacks")
    return wrong[1] != "0"


def check_sizes(engine):
    """Bytes per event; docs/fleet.md promises how many where there are many events."""
    failed = 0
    for line in engine.query("SELECT table, sum(bytes_on_disk) / sum(rows), sum(rows) FROM "
                             "system.parts WHERE active AND table LIKE '%:%' GROUP BY table"):
        table, size, rows = line.split("\t")
        print(f"# {float(size):.2f} bytes per event: {rows} of {table}")
        if int(rows) > 100000 and float(size) > 10:
            print(f"FAILED: more than 10 bytes per event of {table}")
            failed += 1
    return failed


def main(library, stackonce, document, paths):
    failed = 0
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        engine = Engine(library, directory)
        print("version", engine.query("SELECT version()")[0])
        engine.query("CREATE DATABASE fleet")
        engine.query("USE fleet")
        # twice: for tables that exist, and with fields that they lack
        for _ in range(2):
            engine.statements(run(stackonce, "export", "clickhouse", "--schema", *paths).decode())
        for path in paths + paths[:1]:
            for table in run(stackonce, "export", "clickhouse", "--tables",
                             path).decode().splitlines():
                engine.query(run(stackonce, "export", "clickhouse", "-q", "--rows", table, path))
        for path in paths:
            failed += check(engine, stackonce, path)
        failed += check_keys(engine)
        with open(document, encoding="utf-8") as text:
            queries = re.findall(r"^```sql\n(.*?)^```$", text.read(), re.M | re.S)
        for query in queries:
            query = query.replace("now()", "toDateTime('2026-09-21 15:00:00', 'UTC')")
            if not engine.query(query):
                print(f"FAILED: no answer: {query}")
                failed += 1
        print(f"ok {len(queries)} queries of the document")
        failed += check_sizes(engine)
        engine.close()
    return failed


sys.exit(bool(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])))
