# SPDX-License-Identifier: GPL-2.0-only
"""What `export speedscope` writes, as the format demands, and `export folded`: with the counts of
report.
exports.py STACKONCE MAKE_RECORDING GOLDEN_DIR
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, end

SO, MAKE, GOLDEN = map(os.path.realpath, sys.argv[1:4])
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def run(*args):
    return subprocess.run([SO, *args], capture_output=True, text=True)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def check_format(what, file):
    """Types and members, as the specification of the format has them."""
    check(f"{what}: schema", "https://www.speedscope.app/file-format-schema.json", file["$schema"])
    check(f"{what}: members", set(), set(file) - {
        "$schema", "exporter", "name", "activeProfileIndex", "profiles", "shared"})
    frames = file["shared"]["frames"]
    check(f"{what}: frames", True, all(
        set(f) <= {"name", "file", "line", "col"} and all(isinstance(v, str) for v in f.values())
        and "name" in f for f in frames))
    check(f"{what}: no frame twice", len(frames),
          len({(f["name"], f.get("file")) for f in frames}))
    for p in file["profiles"]:
        check(f"{what}: members of a profile", {
            "type", "name", "unit", "startValue", "endValue", "samples", "weights"}, set(p))
        check(f"{what}: type", "sampled", p["type"])
        check(f"{what}: unit", True, p["unit"] in UNITS and isinstance(p["name"], str))
        check(f"{what}: lengths", len(p["samples"]), len(p["weights"]))
        check(f"{what}: weights", True, all(map(is_number, p["weights"])))
        check(f"{what}: values", (0, sum(p["weights"])), (p["startValue"], p["endValue"]))
        check(f"{what}: indices", True, all(
            stack and all(isinstance(i, int) and 0 <= i < len(frames) for i in stack)
            for stack in p["samples"]))


def export(*args):
    done = run("export", "speedscope", "-o", "-", "--no-symbols", *args)
    check(f"export {args}", 0, done.returncode)
    file = json.loads(done.stdout)
    check_format(args, file)
    return file, done.stderr


def report(*args):
    return [json.loads(line)
            for line in run("report", "--json", "--no-symbols", *args).stdout.splitlines()]


def compare(recording, *options):
    file, _ = export(recording, *options)
    names = [f["name"] for f in file["shared"]["frames"]]
    own = collections.Counter()
    all_ = collections.Counter()
    groups = collections.Counter()
    for p in file["profiles"]:
        groups[p["name"]] += p["endValue"]
        for stack, weight in zip(p["samples"], p["weights"]):
            own[names[stack[-1]]] += weight
            for name in {names[i] for i in stack}:
                all_[name] += weight
    want = collections.Counter()
    for row in report("--top", "0", "--by", "comm,tid", *options, recording):
        want[f"{row['comm']} tid {row['tid']}"] += row["count"] if row["frames"] else 0
    check(f"{recording} {options}: profiles", dict(want), dict(groups))
    rows = [r for r in report("--flat", "--top", "0", "--min", "0", "--by", "host", *options,
                              recording) if r["sym"]]
    times = collections.Counter(r["sym"] for r in rows)
    for row in rows:
        if times[row["sym"]] == 1:
            check(f"{recording} {options}: {row['sym']}", (row["self"], row["count"]),
                  (own[row["sym"]], all_[row["sym"]]))


def compare_folded(recording, *options):
    exported = run("export", "folded", "-q", "-o", "-", *options, recording)
    printed = run("report", "--folded", *options, recording)
    check(f"folded {recording} {options}", printed.stdout, exported.stdout)
    rows = report(*options, "--top", "0", recording)
    lines = exported.stdout.splitlines()
    check(f"folded {recording} {options}: sum",
          sum(r["weight" if "--weigh" in options else "count"] for r in rows),
          sum(int(line.rsplit(" ", 1)[1]) for line in lines))
    check(f"folded {recording} {options}: lines", len(lines),
          len({line.rsplit(" ", 1)[0] for line in lines}))


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    for kind in ("small", "empty", "hostile", "user", "guesses", "profile", "aliases"):
        subprocess.run([MAKE, kind, f"{kind}.stk"], check=True)
    for name in ("demo", "waits"):
        shutil.copy(f"{GOLDEN}/{name}.stk", ".")
    for name in ("small", "user", "guesses", "aliases", "demo", "waits"):
        compare(f"{name}.stk")
        compare(f"{name}.stk", "--kernel")
        compare(f"{name}.stk", "--user")
        compare_folded(f"{name}.stk")
        compare_folded(f"{name}.stk", "--by", "comm,pid", "--user")
    compare("demo.stk", "--event", "sched_switch", "--fold", "idle,interrupts")
    compare_folded("demo.stk", "--time", "10%,60%", "--fold", "idle,interrupts", "--kernel")
    compare_folded("profile.stk", "--weigh", "bytes_alloc", "--by", "comm")
    export("hostile.stk")
    check("empty", [], export("empty.stk")[0]["profiles"])

    # Timer samples are times, 1 ms each; among other events they count as these do.
    file, said = export("profile.stk", "--event", "cpu_clock")
    check("samples: unit", {"nanoseconds"}, {p["unit"] for p in file["profiles"]})
    check("samples: times", 98 * 1000000, sum(p["endValue"] for p in file["profiles"]))
    check("summary", "98 events in 2 profiles; 2 events without a stack left out\n", said)
    file, _ = export("profile.stk")
    check("events: unit", {"none"}, {p["unit"] for p in file["profiles"]})

    for weight, unit in (("bytes_alloc", "bytes"), ("delay", "nanoseconds"), ("count", "none")):
        file, said = export("profile.stk", "--weigh", weight, "--by", "event")
        rows = report("--top", "0", "--weigh", weight, "profile.stk")
        check(f"{weight}: unit", {unit}, {p["unit"] for p in file["profiles"]})
        check(f"{weight}: sum", sum(r["weight"] for r in rows if r["frames"]),
              sum(p["endValue"] for p in file["profiles"]))
        check(f"{weight}: left out", True, f"without a number '{weight}' left out" in said)

    done = run("export", "speedscope", "-o", "-", "--weigh", "call_site", "profile.stk")
    check("a sum beyond 64 bits", (1, "", "stackonce: 'call_site': a sum exceeds 2^64: select "
                                   "fewer events\n"),
          (done.returncode, done.stdout, done.stderr))

end()
