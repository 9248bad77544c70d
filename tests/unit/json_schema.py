#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares JSON with docs/json.md: members that are unknown, missing or of another type.

    json_schema.py DOC COMMAND <OUTPUT      every line of stdin is a record of `stackonce COMMAND`
    json_schema.py DOC --runs FILE          FILE: lines COMMAND<tab>OUTPUT-FILE; besides, each record
                                            and member of these commands must occur, or be in UNSEEN
"""
import json
import re
import sys

# What no recording of the unit tests has: source lines need files of this machine, and the accounting of
# unwinding a recorder.  The live tests compare such output with the same document.
UNSEEN = set("""
frame.source frame.line frame.inlined inlined.sym inlined.source inlined.line function.inlined
profile.inlined profile.source_line
info.kernel_unwind info_unwind.by info_unwind.why info_unwind.walked info_unwind.remembered
info_unwind.left info_unwind.checks info_user.tables_loaded info_user.no_table info_user.evicted
info_user.table_bytes info_user.table_peak info_user.cfi_bytes info_user.load_ns info_user.budget
info_user.mode life.exit_between life.free_between life.uncertain process.new_parent process.new_parent_id
process.new_parent_comm
""".split())

HEAD = "| key | type | unit | present | meaning |"


def parse_type(text, known):
    null = text.endswith(" or null")
    words = text.removesuffix(" or null").split(" ")
    if len(words) == 2 and words[0] in ("list", "pair", "map"):
        outer, inner = words
    elif len(words) == 1:
        outer, inner = None, words[0]
    else:
        raise ValueError(f"not a type: '{text}'")
    inner = inner.split("/")
    for t in inner:
        if t not in ("u64", "s64", "real", "bool", "string", "list", "any", "null") and t not in known:
            raise ValueError(f"unknown type: '{t}'")
    return null, outer, inner


class Doc:
    """records[COMMAND][TYPE] and types[NAME] are lists of (key, type, always)."""

    def __init__(self, path):
        self.records, self.types, self.seen = {}, {}, set()
        command = rows = None
        with open(path, encoding="utf-8") as f:
            lines = f.read().splitlines()
        for nr, line in enumerate(lines, 1):
            if line.startswith("## "):
                command = line[3:].removeprefix("stackonce ") if "stackonce" in line else None
                rows = None
            elif m := re.fullmatch(r"(###|####) ([a-z_0-9]+)", line):
                rows = []
                where = self.types if m[1] == "####" else self.records.setdefault(command, {})
                if m[2] in where or (m[1] == "###" and command is None):
                    sys.exit(f"{path}:{nr}: '{line}' stands there twice, or outside of a command")
                where[m[2]] = rows
            elif line.startswith("|") and line != HEAD and not line.startswith("|---"):
                cells = [c.strip() for c in line.strip("|").split("|")]
                if rows is None or len(cells) != 5 or not cells[0] or not cells[1] or not cells[3]:
                    sys.exit(f"{path}:{nr}: not a row of a table of members")
                rows.append((cells[0], cells[1], cells[3] == "always"))
        for name, table in self.tables():
            self.check_table(path, name, table)

    def tables(self):
        yield from self.types.items()
        for command, records in self.records.items():
            for name, rows in records.items():
                yield f"{command} {name}", rows

    def check_table(self, path, name, rows):
        for key, t, _ in rows:
            try:
                parse_type(t, self.types)
                if key == "..." and t not in self.types:
                    raise ValueError(f"'...' of '{t}'")
            except ValueError as e:
                sys.exit(f"{path}: {name}: {key}: {e}")
        keys = [k for k, _, _, _ in self.members(name, rows)]
        if len(keys) != len(set(keys)):
            sys.exit(f"{path}: {name}: a key stands there twice")

    def members(self, name, rows, always=True):
        """(key, type, whether it is always there, "TABLE.KEY"), those of other types included."""
        for key, t, here in rows:
            if key == "...":
                yield from self.members(t, self.types[t], always and here)
            else:
                yield key, t, always and here, f"{name}.{key}"

    def check_object(self, name, rows, v, where):
        members = {m[0]: m for m in self.members(name, rows)}
        for key, (_, _, always, _) in members.items():
            if always and key not in v:
                yield f"{where}: '{key}' is missing"
        for key, value in v.items():
            member = members.get(key) or members.get("*")
            if not member:
                yield f"{where}: '{key}' is unknown"
                continue
            self.seen.add(member[3])
            yield from self.check_value(member[1], value, f"{where}.{key}")

    def check_value(self, text, v, where):
        null, outer, inner = parse_type(text, self.types)
        if v is None and null:
            return
        if not outer:
            yield from self.check_inner(inner, v, where)
        elif not isinstance(v, dict if outer == "map" else list) or \
                outer == "pair" and len(v) != 2:
            yield f"{where}: {json.dumps(v)[:80]} is no {text}"
        else:
            for key, e in v.items() if outer == "map" else enumerate(v):
                yield from self.check_inner(inner, e, f"{where}.{key}")

    def check_inner(self, inner, v, where):
        for t in inner:
            if t in self.types:
                if isinstance(v, dict):
                    yield from self.check_object(t, self.types[t], v, where)
                    return
            elif is_scalar(t, v):
                return
        yield f"{where}: {json.dumps(v)[:80]} is no {'/'.join(inner)}"

    def check(self, command, text):
        records = self.records.get(command)
        if records is None:
            yield f"'{command}' is not in the document"
            return
        for nr, line in enumerate(text.splitlines(), 1):
            v = json.loads(line)
            kind = v.pop("type", None) if isinstance(v, dict) else None
            if kind not in records:
                yield f"{command}:{nr}: no record '{kind}'"
                continue
            if not line.startswith('{"type":"'):
                yield f"{command}:{nr}: type is not the first member"
            self.seen.add(f"{command} {kind}")
            yield from self.check_object(f"{command} {kind}", records[kind], v, f"{command}:{nr}")

    def unseen(self, commands):
        """What could have been seen in the output of these commands."""
        todo = [(f"{c} {kind}", rows) for c in commands for kind, rows in self.records[c].items()]
        done = set()
        while todo:
            name, rows = todo.pop()
            if name in done:
                continue
            done.add(name)
            if name not in self.types:
                yield name
            for _, t, _, member in self.members(name, rows):
                yield member
                todo += [(i, self.types[i]) for i in parse_type(t, self.types)[2] if i in self.types]


def is_scalar(t, v):
    is_int = isinstance(v, int) and not isinstance(v, bool)
    return {"any": True, "null": v is None, "bool": isinstance(v, bool), "string": isinstance(v, str),
            "list": isinstance(v, list),
            "u64": is_int and 0 <= v < 1 << 64, "s64": is_int and -1 << 63 <= v < 1 << 63,
            "real": is_int or isinstance(v, float)}[t]


def main():
    doc = Doc(sys.argv[1])
    wrong = []
    if sys.argv[2] == "--runs":
        commands = []
        with open(sys.argv[3], encoding="utf-8") as f:
            for line in f:
                command, path = line.rstrip("\n").split("\t")
                commands.append(command)
                with open(path, encoding="utf-8") as out:
                    wrong += [f"{path}: {w}" for w in doc.check(command, out.read())]
        wrong += [f"{n} does not occur" for n in sorted(set(doc.unseen(commands)) - doc.seen)
                  if n.split(" ")[-1] not in UNSEEN]
    else:
        wrong += doc.check(sys.argv[2], sys.stdin.read())
    for w in wrong[:40]:
        print(w)
    sys.exit(1 if wrong else 0)


main()
