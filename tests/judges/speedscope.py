# SPDX-License-Identifier: GPL-2.0-only
"""Files of `export speedscope` follow speedscope's schema, and speedscope finds in them the
profiles, functions and weights of `report`.
speedscope.py STACKONCE MAKE_RECORDING GOLDEN_DIR NODE_DIR SPEEDSCOPE_DIR
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import jsonschema

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "unit", "cmd"))
from checks import check, end  # noqa: E402

SO, MAKE, GOLDEN, NODE, SPEEDSCOPE = map(os.path.realpath, sys.argv[1:6])
SAMPLE_NS = 1000000  # a period of the timer samples of profile.stk
CASES = (
    ("small.stk",), ("user.stk",), ("guesses.stk",), ("aliases.stk",), ("hostile.stk",),
    ("user-hostile.stk",), ("demo.stk",), ("waits.stk",), ("--kernel", "demo.stk"),
    ("--user", "user.stk"), ("--fold", "idle,interrupts,guesses", "profile.stk"),
    ("--event", "cpu_clock", "profile.stk"), ("--weigh", "bytes_alloc", "profile.stk"),
    ("--weigh", "delay", "profile.stk"),
)


def run(*args):
    return subprocess.run([SO, *args], capture_output=True, text=True)


def code_of(frame):
    """A frame of ours as the file names functions: name, file."""
    name = frame["sym"] or (f"{frame['mod']}+" if frame["mod"] else "") + frame["ip"]
    if "file" in frame:
        return name, frame["path"] or frame["mod"]
    return name, None if name in ("[idle]", "[guess]") else frame["mod"] or "[kernel]"


def wanted(args, scale):
    """By profile: its total, and own and all weight of each function."""
    weight = "weight" if "--weigh" in args else "count"
    profiles = collections.defaultdict(lambda: [0, collections.defaultdict(lambda: [0, 0])])
    done = run("report", "--json", "--no-symbols", "--top", "0", "--by", "comm,tid", *args)
    for row in map(json.loads, done.stdout.splitlines()):
        codes = [code_of(f) for f in row.get("frames", [])]
        if row["type"] != "stack":
            continue
        profile = profiles[f"{row['comm']} tid {row['tid']}"]
        if not codes:
            continue
        profile[0] += row[weight] * scale
        profile[1][codes[0]][0] += row[weight] * scale
        for code in set(codes):
            profile[1][code][1] += row[weight] * scale
    return profiles


def compare(args, opened):
    want = wanted(args, SAMPLE_NS if "cpu_clock" in args else 1)
    check(f"{args}: errors", [], opened["errors"])
    profiles = opened.get("profiles", [])
    check(f"{args}: totals", {name: total for name, (total, _) in want.items()},
          {p["name"]: p["total"] for p in profiles})
    check(f"{args}: profiles", len(want), len(profiles))
    # What is on the page: a list of profiles, if there are several, and the table of functions.
    functions = [row for row in opened["rows"] if row[0].endswith("%)")]
    listed = [row[:2] for row in opened["rows"] if not row[0].endswith("%)")]
    check(f"{args}: list of profiles", [] if len(profiles) < 2 else [
        [str(i + 1), p["name"].strip()] for i, p in enumerate(profiles)], listed)
    for p in profiles:
        got = {(f["name"], f.get("file")): [f["self"], f["total"]] for f in p["frames"]}
        check(f"{args}: {p['name']}: functions", dict(want[p["name"]][1]), got)
    first = profiles[0]["frames"] if profiles else []
    most = max((f["self"] for f in first), default=0)
    check(f"{args}: first function", True, bool(functions) and functions[0][-1] in {
        f["name"].strip() for f in first if f["self"] == most})


def main():
    with open(f"{SPEEDSCOPE}/dist/release/file-format-schema.json", encoding="utf-8") as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for kind in ("small", "empty", "hostile", "user-hostile", "user", "guesses", "profile",
                     "aliases"):
            subprocess.run([MAKE, kind, f"{kind}.stk"], check=True)
        for name in ("demo", "waits"):
            shutil.copy(f"{GOLDEN}/{name}.stk", ".")
        names = []
        for i, args in enumerate((*CASES, ("empty.stk",))):
            done = run("export", "speedscope", "-q", "--no-symbols", "-o", f"{i}.json", *args)
            check(f"export {args}", 0, done.returncode)
            with open(f"{i}.json", encoding="utf-8") as file:
                errors = [e.message for e in validator.iter_errors(json.load(file))]
            check(f"{args}: schema", [], errors)
            names.append(f"{i}.json")
        # speedscope opens no file without a profile
        done = subprocess.run([f"{NODE}/bin/node", f"{HERE}/speedscope.js", SPEEDSCOPE,
                               *names[:len(CASES)]], stdout=subprocess.PIPE, text=True)
        check("speedscope.js", 0, done.returncode)
        lines = done.stdout.splitlines()
        check("files opened", len(CASES), len(lines))
        for args, line in zip(CASES, lines):
            compare(args, json.loads(line))
    end()


main()
