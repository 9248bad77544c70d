# SPDX-License-Identifier: GPL-2.0-only
"""Compares what pprof shows of exported profiles with the counts of report."""
import collections
import json
import os
import re
import subprocess
import sys

from checks import check, end
from pprof_raw import Raw

SO = sys.argv[1]


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, errors="surrogateescape")


def report(*args):
    out = run(SO, "report", "--json", "--no-symbols", *args).stdout
    return [json.loads(line) for line in out.splitlines()]


def export(*args):
    done = run(SO, "export", "pprof", "-o", "profile.gz", "--no-symbols", *args)
    check(f"export {args}", 0, done.returncode)
    return done.stderr


def pprof(*args, symbolize="none"):
    done = run("go", "tool", "pprof", f"-symbolize={symbolize}", *args, "profile.gz")
    check(f"pprof {args}: {done.stderr}", 0, done.returncode)
    return done.stdout


def read():
    return Raw(pprof("-raw"))


def amount(text):
    return int(re.match(r"-?\d+", text)[0])


def top(index, *args, symbolize="none"):
    """{name: (flat, cum)}"""
    out = pprof("-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0",
                f"-sample_index={index}", "-unit=ns", *args, symbolize=symbolize)
    rows = {}
    begun = False
    for line in out.splitlines():
        if begun:
            flat, _, _, cum, _, name = line.split(None, 5)
            rows[name.removesuffix(" (inline)")] = (amount(flat), amount(cum))
        begun |= line.split() == ["flat", "flat%", "sum%", "cum", "cum%"]
    return rows


def base(row):
    """What pprof calls code without a name: by its file."""
    mod = row["mod"]
    if mod == "[jit]":
        return "[anon]"
    if mod == "[unknown]":
        return "<unknown>"
    return f"[{mod or '[kernel.kallsyms]'}]"


def compare_functions(recording, options, index="events", values=("self", "count")):
    """Counts per function, of all events together."""
    rows = [r for r in report("--flat", "--top", "0", "--min", "0", "--by", "host", *options,
                              recording) if r["type"] == "profile"]
    shown = top(index)
    flats = collections.Counter()
    names = collections.Counter()
    for row in rows:
        name = row["sym"] or base(row)
        flats[name] += row[values[0]]
        names[name] += 1
    what = f"{recording} {options} {index}"
    check(f"{what}: functions", sorted(flats), sorted(shown))
    for row in rows:
        name = row["sym"] or base(row)
        if name not in shown:
            continue
        check(f"{what}: flat of {name}", flats[name], shown[name][0])
        if names[name] == 1:
            check(f"{what}: cum of {name}", row[values[1]], shown[name][1])


def compare_labels(recording, options):
    """Counts per event and comm."""
    raw = read()
    want = collections.Counter()
    without = 0
    for row in report("--top", "0", "--by", "event,comm", *options, recording):
        if row["frames"]:
            want[row["event"], row["comm"]] += row["count"]
        else:
            without += row["count"]
    got = collections.Counter()
    for values, _, labels in raw.samples:
        got[labels["event"], labels["comm"]] += values[0]
    check(f"{recording}: groups", want, got)
    check(f"{recording}: sum", sum(want.values()), raw.total())
    said = [c for c in raw.comments() if c.endswith(" without a stack")]
    events = "event" if without == 1 else "events"
    check(f"{recording}: left out", [f"left out: {without:,} {events} without a stack"] if without
          else [], said)


for stk in ("small.stk", "aliases.stk", "user.stk", "guesses.stk", "profile.stk", "demo.stk",
            "waits.stk"):
    for options in ([], ["--kernel"], ["--user"]):
        export(stk, *options)
        raw = read()
        if not raw.samples:
            check(f"{stk} {options}: report", [], [
                r for r in report("--by", "host", *options, stk) if r["frames"]])
            continue
        compare_functions(stk, options)
        compare_labels(stk, options)
        tree = pprof("-tree", "-nodecount=0", "-nodefraction=0", "-edgefraction=0",
                     "-sample_index=events")
        check(f"{stk}: tree", True,
              f"Showing nodes accounting for {raw.total()}, 100% of {raw.total()} total" in tree)
    code = [line.split(":", 1)[1] for line in raw.locations if re.match(r" *\d+: ", line)]
    check(f"{stk}: every frame is there once", len(code), len(set(code)))
    for line in raw.locations:
        found = re.match(r" *\d+: 0x([0-9a-f]+) M=(\d+) ", line)
        if found:
            low, high = re.match(r"\d+: 0x(\w+)/0x(\w+)/", raw.mappings[int(found[2]) - 1]).groups()
            check(f"{stk}: {line} is in its mapping", True,
                  int(low, 16) <= int(found[1], 16) < int(high, 16))

# A selection, and parts of stacks that are folded.
for options in (["--event", "sched_switch"], ["--comm", "gzip,cat"], ["--fold", "idle,interrupts"]):
    export("demo.stk", *options)
    compare_functions("demo.stk", options)

# Times of samples: 1 ms each.
export("profile.stk", "--event", "cpu_clock")
raw = read()
check("types of samples", ["events/count", "cpu/nanoseconds[dflt]"], raw.types)
check("every sample is a period", True,
      all(values[1] == 1000000 * values[0] for values, _, _ in raw.samples))
check("period", ["PeriodType: cpu nanoseconds", "Period: 1000000"],
      [line for line in raw.head if line.startswith("Period")])
shown = top("cpu")
check("cpu of compute()", 1000000 * top("events")["compute"][1], shown["compute"][1])
export("profile.stk")
check("types of samples and others", ["events/count[dflt]", "cpu/nanoseconds"], read().types)
export("demo.stk", "--event", "cpu-clock")
check("types without a known period", ["events/count[dflt]"], read().types)

# Weights, with their units.
for name, unit in (("bytes_alloc", "bytes"), ("delay", "nanoseconds"), ("count", "count")):
    options = ["--weigh", name]
    said = export("profile.stk", *options)
    check(f"{name}: left out is said", True, f"without a number '{name}' left out" in said)
    check(f"types of {name}", ["events/count", f"{name}/{unit}[dflt]"], read().types)
    check(f"{name}: in a comment", True,
          any(f"without a number '{name}'" in c for c in read().comments()))
    if unit == "nanoseconds":
        compare_functions("profile.stk", options, name, ("self_weight", "weight"))
    weights = sum(r["weight"] for r in report("--top", "0", *options, "profile.stk") if r["frames"])
    check(f"sum of {name}", weights, read().total(1))

done = run(SO, "export", "pprof", "-o", "none.gz", "--weigh", "call_site", "profile.stk")
check("a sum beyond the format", (1, "stackonce: 'call_site': a sum exceeds 2^63: select fewer "
                                  "events\n"), (done.returncode, done.stderr))
check("nothing is left behind", False, os.path.exists("none.gz"))

# Numbers are numbers: pprof selects by them.
export("demo.stk", "--by", "comm,pid")
want = collections.Counter()
for row in report("--by", "pid", "--top", "0", "demo.stk"):
    want[row["pid"]] += row["count"] if row["frames"] else 0
pid = max(want, key=want.get)
got = collections.Counter()
for values, _, labels in read().samples:
    got[int(labels["pid"])] += values[0]
check("events by pid", +want, got)
shown = top("events", f"-tagfocus=pid={pid}")
check("pprof selects a pid", want[pid], sum(flat for flat, _ in shown.values()))

# The summary.
options = ["small.stk", "--event", "sched:*"]
check("summary", "7 events in 4 samples; 1 event without a stack left out\n", export(*options))
check("no summary", "", export(*options, "--quiet"))

# Losses are said.
for stk in ("small.stk", "waits.stk", "flags.stk"):
    export(stk)
    info = [json.loads(line) for line in run(SO, "info", "--json", stk).stdout.splitlines()]
    lost = info[0]["totals"]["lost"]
    check(f"{stk}: losses", lost, read().lost())

# An empty recording has no samples; hostile names are escaped.
export("empty.stk")
check("empty", [], read().samples)
export("hostile.stk")
text = pprof("-raw")
check("no control characters", None, re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text))
check("escaped", True, "\\x1b" in text)

# Inlined functions and source lines.
done = run(SO, "export", "pprof", "-o", "profile.gz", "--inline", "prog.stk")
lines = [line for line in read().locations if "innermost" in line or "middle" in line
         or "outer" in line]
check("inlined", ["innermost", "middle", "outer"],
      [re.search(r"innermost|middle|outer", line)[0] for line in lines])
check("source lines", True, all(re.search(r"inlined\.c:[1-9]\d* ", line) for line in lines))
check("flags", True, any(m.endswith("[FN][FL][LN][IN]") for m in read().mappings))

# Code has what a symbolizer needs: the build id, and the offset in the file, that of a caller within
# its call.
export("prog.stk")
raw = read()
low, offset, path, build_id, flags = re.match(
    r"1: 0x(\w+)/0x\w+/0x(\w+) (\S+) (\w+) (.*)", raw.mappings[0]).groups()
check("mapping of a file", (sys.argv[2], sys.argv[3], "[FN]"), (path, build_id, flags.strip()))
check("pprof looks up no names", {"[prog]": (1, 1)}, top("events", symbolize="local"))
got = [int(re.match(r" *\d+: 0x(\w+) M=1 *$", line)[1], 16) - int(low, 16) + int(offset, 16)
       for line in raw.locations]
check("offsets in the file", [int(ip, 16) for ip in sys.argv[4:6]], got)
export("profile.stk")
raw = read()
address, mapping = re.search(r"0x(\w+) M=(\d+) main ", "\n".join(raw.locations)).groups()
check("within the call", 0x100f, int(address, 16) - int(
    re.match(r"\d+: 0x(\w+)/", raw.mappings[int(mapping) - 1])[1], 16))

end()
