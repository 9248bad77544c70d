#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares `stackonce sql` with SQLite on tables that Python fills from `script --json`.

    sql_equals.py STACKONCE SQL.md QUERIES RECORDING...

Each query of QUERIES (separated by semicolons and line ends) and of the page SQL.md must return the
same rows from both.  Those of QUERIES must have an answer from some recording; those of the page
that use more than the imported tables have are only run.
"""
import collections
import fnmatch
import json
import re
import sqlite3
import subprocess
import sys

U64 = 1 << 64
GENERIC = ["_ts", "_cpu", "_pid", "_tid", "_comm", "_event", "_kstack", "_ustack"]
OWN = re.compile(r"\b(pairs|losses|types|files|sym)\b")  # what is not imported


def run(*args, text=""):
    done = subprocess.run(args, input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(args)}: exit {done.returncode}: {done.stderr.decode()}")
    # a name with invalid UTF-8 is written as \u00NN
    return [json.loads(line) for line in done.stdout.decode().splitlines()]


def signed(v):
    """A number as SQLite has it; addresses are strings in JSON."""
    if isinstance(v, str) and re.fullmatch("0x[0-9a-f]+", v):
        v = int(v, 16)
    if isinstance(v, int) and v >= U64 // 2:
        v -= U64
    return v


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Percentile:
    def __init__(self):
        self.values, self.p = [], 0

    def step(self, v, p):
        self.p = p
        if v is not None:
            self.values.append(v)

    def finalize(self):
        if not self.values:
            return None
        rank = max(1, -(-len(self.values) * round(self.p * 10) // 1000))
        return sorted(self.values)[rank - 1]


class Import:
    """The tables of a recording in SQLite's memory."""

    def __init__(self, stackonce, path):
        self.db = sqlite3.connect(":memory:")
        self.stacks = {}
        self.load_events(run(stackonce, "script", "--json", path))
        self.load_stacks(run(stackonce, "stacks", "--json", path))
        self.db.create_function("stack", 1, self.stack)
        self.db.create_function("stack_has", 2, self.stack_has)
        self.db.create_function("hex", 1, lambda v: None if v is None else hex(v % U64))
        self.db.create_function("ucmp", 2, self.ucmp)
        self.db.create_aggregate("percentile", 2, Percentile)

    def fill(self, name, columns, rows):
        kinds = ["TEXT" if any(isinstance(v, str) for v in column) else "INTEGER"
                 for column in zip(*rows)] or ["INTEGER"] * len(columns)
        declared = ",".join(f"{quoted(c)} {k}" for c, k in zip(columns, kinds))
        self.db.execute(f"CREATE TABLE {quoted(name)} ({declared})")
        self.db.executemany(f"INSERT INTO {quoted(name)} VALUES ({','.join('?' * len(columns))})",
                            rows)

    def load_events(self, events):
        rows, types = [], collections.defaultdict(list)
        for e in events:
            if e["type"] != "event":
                continue
            row = [e[n[1:]] for n in GENERIC]
            rows.append(row)
            types[e["event"]].append((row, e.get("fields") or {}))
        self.fill("events", GENERIC, rows)
        for name, of_type in types.items():
            # an array is a list in JSON and a blob in SQL
            fields = list(dict.fromkeys(f for _, v in of_type for f in v
                                        if not isinstance(v[f], list)))
            self.fill(name, GENERIC + fields,
                      [row + [signed(v.get(f)) for f in fields] for row, v in of_type])
        kept = ",".join(GENERIC[1:])
        self.db.execute(f"CREATE TABLE tuples AS SELECT count(*) AS n, {kept} "
                        f"FROM events GROUP BY {kept}")
        self.db.execute("CREATE VIEW tasks AS SELECT _pid AS pid, _tid AS tid, _comm AS comm, "
                        "count(*) AS events FROM events GROUP BY 1, 2, 3")

    def load_stacks(self, stacks):
        frames = []
        for s in stacks:
            self.stacks[s["id"]] = s
            for nr, f in enumerate(s["frames"]):
                frames.append([s["id"], nr, f["kind"] if "kind" in f else s["kind"],
                               signed(f["ip"]), f["sym"], f["off"], f["mod"]])
        self.fill("stacks", ["id", "kind", "depth", "ends"],
                  [[s["id"], s["kind"], s["depth"], s["end"]] for s in stacks])
        self.fill("frames", ["stack", "nr", "kind", "ip", "sym", "off", "mod"], frames)

    def stack(self, nr):
        if nr not in self.stacks:
            return None
        names = []
        for f in self.stacks[nr]["frames"]:
            name = f["sym"] or f["ip"]
            mod = (f["mod"] or "").strip("[]")
            names.append(f"{name} [{mod}]" if mod else name)
        return " < ".join(names)

    def stack_has(self, nr, glob):
        if nr not in self.stacks:
            return None
        return int(any(f["sym"] and fnmatch.fnmatchcase(f["sym"], glob)
                       for f in self.stacks[nr]["frames"]))

    @staticmethod
    def ucmp(a, b):
        if a is None or b is None:
            return None
        a, b = a % U64, b % U64
        return (a > b) - (a < b)

    def has(self, query):
        """Whether all tables of the query were imported: a type without events has no columns."""
        try:
            self.db.execute("EXPLAIN " + query)
        except sqlite3.OperationalError as e:
            if "no such table" in str(e) or "no such column" in str(e):
                return False
            raise
        return True

    def rows(self, query):
        return [list(row) for row in self.db.execute(query)]


def normal(row):
    return [round(v, 9) if isinstance(v, float) else signed(v) for v in row]


def answers(stackonce, path, queries):
    """The rows of each query, from one process: a row marks the end of each answer."""
    text = "".join(f"{q};\nSELECT 'end' AS \"the end\";\n" for q in queries)
    all_rows, rows = [], []
    for r in run(stackonce, "sql", "--json", "-i", path, text=text):
        if "the end" in r["values"]:
            all_rows.append(rows)
            rows = []
        else:
            rows.append(normal(r["values"].values()))
    return all_rows


def compare(path, imported, query, got):
    want = [normal(r) for r in imported.rows(query)]
    if not re.search(r"\bORDER BY\b(?!.*\))", query, re.S):
        got, want = sorted(got, key=repr), sorted(want, key=repr)
    if got == want:
        return len(want)
    print(f"{path}: {query}\n  sql:    {got[:5]}\n  import: {want[:5]}\n"
          f"  {len(got)} and {len(want)} rows")
    return -1


def count_rows(stackonce, path, query):
    """0 if the recording lacks the event types."""
    done = subprocess.run([stackonce, "sql", "--json", "-i", path, query], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    error = done.stderr.decode()
    if done.returncode and not re.search("no such (table|column)|has no event|lacks a field", error):
        print(f"{path}: {query}\n  exit {done.returncode}: {error}")
        return -1
    return done.stdout.count(b"\n")


def queries_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if path.endswith(".md"):
        found = re.findall(r"```sql\n(.*?)```", text, re.S)
    else:
        found = re.sub(r"^--.*\n", "", text, flags=re.M).split(";\n")
    return [q.strip().rstrip(";") for q in found if q.strip()]


def main():
    stackonce, page, queries, *paths = sys.argv[1:]
    todo = queries_of(page) + queries_of(queries)
    failed = 0
    most = dict.fromkeys(todo, -1)
    for path in paths:
        imported = Import(stackonce, path)
        both = [q for q in todo if not OWN.search(q) and imported.has(q)]
        results = [(q, compare(path, imported, q, got))
                   for q, got in zip(both, answers(stackonce, path, both), strict=True)]
        results += [(q, count_rows(stackonce, path, q)) for q in todo if OWN.search(q)]
        for query, rows in results:
            failed += rows < 0
            most[query] = max(most[query], rows)
    listed = queries_of(queries)
    for query, rows in most.items():
        if rows < (query in listed):
            print(f"no recording has an answer: {query}")
            failed += 1
    print(f"{len(todo)} queries on {len(paths)} recordings, {failed} failed")
    sys.exit(1 if failed else 0)


main()
