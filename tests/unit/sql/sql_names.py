# SPDX-License-Identifier: GPL-2.0-only
"""The tables, columns and functions that a document lists are those that `stackonce sql` has.

sql_names.py STACKONCE DOCUMENT MAN_PAGE RECORDING
"""
import json
import re
import sqlite3
import subprocess
import sys

stackonce, document, page, recording = sys.argv[1:]
MODULES = "SELECT name FROM pragma_module_list UNION SELECT name FROM sqlite_master"
FUNCTIONS = "SELECT name, narg FROM pragma_function_list WHERE NOT builtin"


def ask(query):
    """The rows of a query, as a set of tuples."""
    out = subprocess.run([stackonce, "sql", "--json", recording, query], check=True,
                         capture_output=True, text=True).stdout
    return {tuple(json.loads(line)["values"].values()) for line in out.splitlines()}


def ours(query):
    """What SQLite alone does not have."""
    return ask(query) - set(sqlite3.connect(":memory:").execute(query))


def columns(table, hidden):
    return {name for name, in ask(f"SELECT name FROM pragma_table_xinfo('{table}') "
                                  f"WHERE hidden = {hidden}")}


def rows(text, head):
    """The first two cells of the rows of a table."""
    table = re.search(rf"^\| {head} \|.*\n\|---.*\n((?:\|.*\n)+)", text, re.M).group(1)
    return [[cell.strip() for cell in line.split("|")[1:3]] for line in table.splitlines()]


def arguments(cell):
    """Name and arguments of `name(a, b)`."""
    name, _, rest = cell.strip("`").rstrip(")").partition("(")
    return name, [a for a in rest.split(", ") if a]


def compare(what, listed, there):
    for name in sorted(map(str, listed ^ there)):
        print(f"FAILED: {what}: {name} is {'not ' if name in map(str, there) else 'only '}listed")
    return listed != there


def main():
    with open(document, encoding="utf-8") as f:
        text = f.read()
    with open(page, encoding="utf-8") as f:
        manual = f.read()
    failed = 0
    tables = {}
    for table, cell in rows(text, "table"):
        name, hidden = arguments(table)
        tables[name] = set(re.findall(r"`(\w+)`", cell)), set(hidden)
    of_type = tables.pop('"system:name"')
    failed += compare("the columns of a type", of_type[0], {"events"})
    failed += compare("tables", set(tables),
                      {name for name, in ours(MODULES) if ":" not in name})
    for name, (visible, hidden) in tables.items():
        failed += compare(name, visible, columns(name, 0))
        failed += compare(f"arguments of {name}", hidden, columns(name, 1))
        failed += compare(f"the columns of {name} in the manual",
                          {c for c in visible if re.search(rf"\b{c.removeprefix('end_')}\b",
                                                           manual)}, visible)
    functions = {(name, len(args)) for name, args in
                 (arguments(cell) for cell, _ in rows(text, "function"))}
    failed += compare("functions", functions, ours(FUNCTIONS))
    failed += compare("functions of the manual",
                      {(words[0], len(words) - 1) for words in
                       map(str.split, re.findall(r"^\.It Fn (.*)$", manual, re.M))}, functions)
    return failed


sys.exit(bool(main()))
