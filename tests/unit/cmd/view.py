# SPDX-License-Identifier: GPL-2.0-only
"""What is in the pages of `stackonce view`: the same numbers as other commands print.
view.py STACKONCE MAKE_RECORDING SPLIT_RECORDING GOLDEN_DIR
"""
import collections
import datetime
import gzip
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

import view_data
from checks import check, end

SO, MAKE, SPLIT, GOLDEN = map(os.path.realpath, sys.argv[1:5])
Counter = collections.Counter
OFFCPU = ("--start", "sched:sched_switch", "--end", "sched:sched_switch",
          "--match", "prev_pid=next_pid", "--single")
MARKER = 3


without_page = subprocess.run([SO, "view", "-o", "/dev/null", os.devnull], capture_output=True,
                              text=True).stderr
if "built without the page" in without_page:
    print(without_page)
    sys.exit(77)


def run(*args, code=0):
    done = subprocess.run([SO, *args], capture_output=True)
    check(f"{args}: exit code", code, done.returncode)
    return done.stdout.decode("utf-8", "surrogateescape")


def read_json(*args):
    return [json.loads(line) for line in run(*args).splitlines()]


def view(*args, **how):
    page = run("view", "-q", "-o", "-", "--no-symbols", *args, **how)
    return *view_data.load(page), page


def check_tables(what, head, tables):
    """Every number refers to a row that exists, and what must be sorted is."""
    nr = {name: table["rows"] for name, table in head["tables"].items()}
    nr |= {name: len(head[name]) for name in ("cpus", "types", "pairs", "strings")}
    nr |= {"hosts": len(head.get("hosts", [""])), "bins": head["bins"], "kinds": 4,
           "buckets": 256}
    for table, columns in {
            "tasks": {"comm": "strings", "host": "hosts"},
            "frames": {"name": "strings", "file": "strings", "kind": "kinds"},
            "nodes": {"frame": "frames"},
            "cells": {"bin": "bins", "cpu": "cpus", "task": "tasks", "type": "types"},
            "losses": {"begin": "bins", "end": "bins"},
            "pair_cells": {"pair": "pairs", "bin": "bins", "bucket": "buckets"},
            "slow": {"pair": "pairs", "task": "tasks", "cpu": "cpus", "value": "strings"}}.items():
        for column, of in columns.items():
            check(f"{what}: {table}.{column}", True,
                  all(n < nr[of] for n in tables[table][column]))
    for table, column, of in (("cells", "stack", "nodes"), ("losses", "cpu", "cpus"),
                              ("losses", "type", "types"), ("slow", "start_stack", "nodes"),
                              ("slow", "end_stack", "nodes")):
        check(f"{what}: {table}.{column}", True, all(n <= nr[of] for n in tables[table][column]))
    bins = tables["cells"]["bin"]
    check(f"{what}: order", sorted(bins), bins)
    cells = list(zip(*(tables["cells"][c] for c in ("bin", "cpu", "task", "type", "stack"))))
    check(f"{what}: no cell twice", len(cells), len(set(cells)))
    check(f"{what}: bins", True, 1 <= head["bins"] <= 2000)
    check(f"{what}: sum", head["events_total"], sum(tables["cells"]["n"]))
    check(f"{what}: types", [t["events"] for t in head["types"]],
          [sum(n for n, t in zip(tables["cells"]["n"], tables["cells"]["type"]) if t == i)
           for i in range(len(head["types"]))])


def compare_events(what, head, tables, args):
    events = [e for e in read_json("script", "--json", "--no-symbols", *args)]
    losses = [e for e in events if e["type"] == "loss"]
    events = [e for e in events if e["type"] == "event"]
    begin = int(head["begin_ns"])
    strings = head["strings"]
    tasks = [(t["tid"], t["pid"], strings[t["comm"]]) for t in view_data.rows(tables["tasks"])]
    got = Counter()
    for c in view_data.rows(tables["cells"]):
        got[(head["types"][c["type"]]["name"], head["cpus"][c["cpu"]], *tasks[c["task"]],
             c["bin"])] += c["n"]
    want = Counter((e["event"], e["cpu"], e["tid"], e["pid"], e["comm"] if e["tid"] else "<idle>",
                    max(e["ts"] - begin, 0) // head["bin_ns"]) for e in events)
    check(f"{what}: events", dict(want), dict(+got))
    last = head["bins"] - 1

    def bin_of(ts):
        return min(max(ts - begin, 0) // head["bin_ns"], last)

    # of several hosts, it is unknown whose CPU it is
    want = Counter((bin_of(e["ts"]), last if e["end_ts"] is None else bin_of(e["end_ts"]),
                    None if "hosts" in head else e["cpu"], e["event"], e["count"] or 0,
                    e["skipped"]) for e in losses)
    got = Counter((r["begin"], r["end"], head["cpus"][r["cpu"] - 1] if r["cpu"] else None,
                   head["types"][r["type"] - 1]["name"] if r["type"] else None, r["count"],
                   r["skipped"] == 1) for r in view_data.rows(tables["losses"]))
    check(f"{what}: losses", want, got)


def compare_stacks(what, head, tables, args):
    stacks = [";".join(name.replace(";", "\\x3b") + ("_[k]" if kind == 0 else "")
                       for name, kind, _ in stack if kind != MARKER) or "[no stack]"
              for stack in view_data.stacks(head, tables)]
    got = Counter()
    for c in view_data.rows(tables["cells"]):
        got[head["types"][c["type"]]["name"] + ";" + stacks[c["stack"]]] += c["n"]
    want = Counter()
    for line in run("report", "--folded", "--by", "event", "--no-symbols", *args).splitlines():
        stack, n = line.rsplit(" ", 1)
        want[stack] += int(n)
    check(f"{what}: stacks", dict(want), dict(+got))


def compare_pair(what, head, tables, number, latency, args):
    """The pairs of one kind: their number, their times, and the slowest with their stacks."""
    pair = head["pairs"][number]
    what = f"{what}: {pair['name']}"
    records = read_json("latency", "--json", "--groups", "0", "--top", "20", *latency, *args)
    groups = [r for r in records if r["type"] == "group"]
    check(f"{what}: count", sum(g["count"] for g in groups), pair["count"])
    weight = next(i for i, w in enumerate(head["weights"]) if w.get("pair") == number)
    check(f"{what}: unit", ("ns", pair["name"]),
          (head["weights"][weight]["unit"], head["weights"][weight]["name"]))
    check(f"{what}: sum", sum(g["sum_ns"] for g in groups), sum(tables["cells"][f"w{weight}"]))
    want = Counter()
    for group in groups:
        for low, _, n in group["histogram"]:
            want[low.bit_length()] += n
    got = Counter()
    for c in view_data.rows(tables["pair_cells"]):
        if c["pair"] == number:
            got[c["bucket"] // 4 + 1 if c["bucket"] else 0] += c["n"]
    # 0 and 1 ns are in one bucket here
    check(f"{what}: histogram", sum(want.values()), sum(got.values()))
    check(f"{what}: histogram", {k: n for k, n in want.items() if k > 1 and n},
          {k: n for k, n in got.items() if k > 1 and n})
    filled = {(c["bin"], c["bucket"]) for c in view_data.rows(tables["pair_cells"])
              if c["pair"] == number}
    for s in view_data.rows(tables["slow"]):
        if s["pair"] == number and s["duration"]:
            end_bin = min((s["start"] + s["duration"]) // head["bin_ns"], head["bins"] - 1)
            check(f"{what}: cell of a slow pair", True,
                  (end_bin, math.floor(4 * math.log2(s["duration"]))) in filled)
    slowest = sorted((r for r in records if r["type"] == "slowest"),
                     key=lambda r: (-r["ns"], r["ts"]))[:20]
    begin = int(head["begin_ns"])
    slow = [s for s in view_data.rows(tables["slow"]) if s["pair"] == number]
    check(f"{what}: slowest first", sorted((-s["duration"] for s in slow)),
          [-s["duration"] for s in slow])
    tasks = view_data.rows(tables["tasks"])
    got = [(s["duration"], begin + s["start"], tasks[s["task"]]["tid"], head["cpus"][s["cpu"]])
           for s in slow[:len(slowest)]]
    want = [(r["ns"], r["ts"], r["tid"], r["cpu"]) for r in slowest]
    check(f"{what}: slowest", sorted(want), sorted(got))
    # The stacks of both ends, as `stacks` has them by their ids.
    ids = {s["id"]: [f["sym"] for f in s["frames"]]
           for s in read_json("stacks", "--json", "--no-symbols",
                              *(a for a in args if os.path.exists(a)))}
    stacks = view_data.stacks(head, tables)

    def functions(stack):
        return [name for name, kind, _ in reversed(stacks[stack]) if kind != MARKER]

    by_start = {(s["duration"], begin + s["start"]): s for s in slow}
    for r in slowest:
        s = by_start.get((r["ns"], r["ts"]))
        if not s:
            continue
        for column, before in (("start_stack", ""), ("end_stack", "end_")):
            want = ids.get(r[before + "kstack"], []) + ids.get(r[before + "ustack"], [])
            if None not in want:
                check(f"{what}: {column}", want, functions(s[column]))


def compare(*args, is_named=True):
    what = " ".join(args)
    head, tables, _ = view(*args)
    check_tables(what, head, tables)
    check(f"{what}: nothing is merged", [],
          [s for s in head["thinned"] if "one row" in s or "caller" in s])
    compare_events(what, head, tables, args)
    if is_named:
        compare_stacks(what, head, tables, args)
    for number, pair in enumerate(head["pairs"]):
        latency = OFFCPU if pair["name"] == "offcpu" else ("--preset", pair["name"])
        compare_pair(what, head, tables, number, latency, args)
    return head, tables


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    KINDS = ("small", "empty", "hostile", "user-hostile", "losses", "aliases", "flags", "user",
             "guesses", "replaced", "late-types", "latency", "lifecycle", "zombies", "stalls",
             "wakers", "selected", "profile", "annotate")
    for kind in KINDS:
        subprocess.run([MAKE, kind, f"{kind}.stk"], check=True)
    for name in ("demo", "rmap", "waits"):
        shutil.copy(f"{GOLDEN}/{name}.stk", ".")
    for name in (*KINDS, "demo", "rmap", "waits"):
        compare(f"{name}.stk", is_named="hostile" not in name)

    # Selections: of events, and of pairs by their start.
    compare("demo.stk", "--time", "20%,60%")
    compare("demo.stk", "--event", "sched_switch", "--comm", "p*")
    compare("demo.stk", "--cpu", "1")
    compare("latency.stk", "--filter", "event ~ '*enter*'", "--tid", "10-11")
    compare("rmap.stk", "--time", "+0.01,+0.02")
    head, tables, _ = view("demo.stk", "--time", "10%,20%", "-e", "sched:sched_switch,a'b c",
                           "--pid", "3-5,7", "--comm", "x", "--sysroot", "/a b", "--debug-dir",
                           "/d", "--no-demangle")
    check("selection", True, head["selection"].startswith("--time 1") and head["selection"].endswith(
        "-e 'sched:sched_switch,a'\\''b c' --pid 3-5,7 --comm x"))
    check("command", "stackonce export perfetto -e 'sched:sched_switch,a'\\''b c' --pid 3-5,7 "
          "--comm x --sysroot '/a b' --debug-dir /d --no-demangle "
          "demo.stk -o trace.pftrace", head["command"])
    check("command with times", head["command"].replace("perfetto", "perfetto " + re.search(
        r"--time \S+", head["selection"]).group()), head["command_all"])
    head, _, _ = view("demo.stk", "--time", "50%,")
    began = datetime.datetime.fromisoformat(head["recordings"][0]["begin"])
    part = datetime.datetime.fromisoformat(head["begin_wall"])
    first = next(e["ts"] for e in read_json("script", "--json", "demo.stk"))
    check("begin", (int(head["begin_ns"]) - first) // 1000000,
          (part - began) // datetime.timedelta(milliseconds=1))
    head, _, _ = view("demo.stk", "--pairs", "none")
    check("no pairs", ([], ["events"]), (head["pairs"], [w["name"] for w in head["weights"]]))
    head, tables, _ = view("latency.stk", "--start", "sys_enter", "--end", "sys_exit", "--match",
                           "tid")
    check("own pairs", ["pairs"], [p["name"] for p in head["pairs"]])
    compare_pair("own pairs", head, tables, 0, ("--start", "sys_enter", "--end", "sys_exit",
                                                "--match", "tid"), ("latency.stk",))

    # What samples stand for, and what was lost of each type.
    head, tables = compare("profile.stk")
    check("CPU time", {"name": "CPU time", "unit": "ns"}, head["weights"][-1])
    check("CPU time", 100 * 1000000, sum(tables["cells"][f"w{len(head['weights']) - 1}"]))
    for name in ("losses.stk", "small.stk", "demo.stk"):
        head, _, _ = view(name)
        info = read_json("info", "--json", name)[0]
        check(f"{name}: lost", sum(e["lost"] for e in info["events"]), head["lost_total"])
        check(f"{name}: lost", {e["name"]: e["lost"] for e in info["events"] if e["lost"]},
              {t["name"]: t["lost"] for t in head["types"] if t["lost"]})
    head, _ = compare("losses.stk", "--time", "0,1")
    check("lost in a selection", 34 + 1 + 2 + 7, head["lost_total"])

    # The busiest tasks remain, if there are too many.
    subprocess.run([MAKE, "crowd", "crowd.stk"], check=True)
    head, tables, _ = view("crowd.stk")
    check("crowd: events", 6010, sum(tables["cells"]["n"]))
    tids = set(tables["tasks"]["tid"])
    check("crowd: tasks", (5001, True), (len(tids), set(range(6090, 6100)) < tids))
    check("crowd: notes", ["tasks beyond the 5000 busiest are one row"], head["thinned"])

    # Several recordings: of one boot they are one, of several there are no pairs.
    subprocess.run([SPLIT, "time", "2", "latency.stk", "segment"], check=True)
    subprocess.run([SPLIT, "hosts", "2", "latency.stk", "host"], check=True)
    head, tables = compare("segment.0", "segment.1")
    check("segments", ["segment.0", "segment.1"], [r["file"] for r in head["recordings"]])
    head, tables = compare("host.0", "host.1")
    check("hosts: pairs", ([], True),
          (head["pairs"], any("several boots" in s for s in head["thinned"])))
    events = Counter(e["host"] for e in read_json("script", "--json", "host.0", "host.1")
                     if e["type"] == "event")
    got = Counter()
    for c in view_data.rows(tables["cells"]):
        got[head["hosts"][tables["tasks"]["host"][c["task"]]]] += c["n"]
    check("hosts: events", events, got)
    events = Counter((e["host"], e["cpu"]) for e in read_json("script", "--json", "host.0",
                                                              "host.1") if e["type"] == "event")
    got = Counter()
    for cpu, n in zip(tables["cells"]["cpu"], tables["cells"]["n"]):
        got[(head["hosts"][head["cpu_hosts"][cpu]], head["cpus"][cpu])] += n
    check("hosts: CPUs", events, got)
    check("hosts: a pair", "stackonce: the recordings are of several boots, in which the same "
          "thread ids mean different tasks: give view --pairs none, or those of one boot at a "
          "time",
          subprocess.run([SO, "view", "-o", "-", "--pairs", "runqueue", "host.0", "host.1"],
                         capture_output=True, text=True).stderr.splitlines()[-1])

    # The name of the page: in the current directory, and no markup of a hostile one.
    os.mkdir("here")
    hostile = "<script>alert(1)<!--&amp;\x1b[31m.stk"
    shutil.copy("small.stk", hostile)
    shutil.copy("small.stk", "no-suffix")
    os.chdir("here")
    said = run("view", f"../{hostile}")
    check("a hostile name", [hostile.replace(".stk", ".html")], os.listdir("."))
    check("a hostile name: message", True, said.startswith(
        "<script>alert(1)<!--&amp;\\x1b[31m.html: a page of ") and said.count("\n") == 1)
    with open(hostile.replace(".stk", ".html"), encoding="utf-8") as f:
        page = f.read()
    template = run("view", "-q", "-o", "-", "../empty.stk")
    check("a hostile name: title", True, "<title>&lt;script>alert(1)&lt;!--&amp;amp;\\x1b[31m.stk"
          "</title>" in page)
    check("no markup", template.count("<"), page.count("<"))
    page = run("view", "-q", "-o", "-", "../hostile.stk")
    check("no markup of names", template.count("<"), page.count("<"))
    os.remove(hostile.replace(".stk", ".html"))
    run("view", "-q", "../no-suffix")
    with open("../small.stk", "rb") as stdin:
        subprocess.run([SO, "view", "-q", "-"], stdin=stdin, check=True)
    check("names", ["no-suffix.html", "trace.html"], sorted(os.listdir(".")))
    with open("trace.html", encoding="utf-8") as f:
        check("standard input", True, "<title>standard input</title>" in f.read())
    os.chdir("..")

    # A recording without an end is shown as far as it goes.
    with open("demo.stk", "rb") as f:
        cut = f.read()[:40000]
    with open("cut.stk", "wb") as f:
        f.write(cut)
    head, tables, _ = view("cut.stk")
    check_tables("cut", head, tables)
    check("cut", True, head["events_total"] > 100 and
          any("no end" in s for s in head["thinned"]))

    # A trace for Perfetto, as export writes it, if it is small.
    if "built without" not in subprocess.run([SO, "export", "perfetto", "-o", "/dev/null",
                                              "small.stk"], capture_output=True, text=True).stderr:
        for args in (("demo.stk",), ("rmap.stk", "--time", "10%,30%"),
                     ("latency.stk", "--pairs", "none"), ("segment.0", "segment.1"), ("demo.stk", "--pairs", "offcpu")):
            _, _, page = view(*args)
            check(f"{args}: trace", subprocess.run(
                [SO, "export", "perfetto", "-q", "-o", "-", "--no-symbols", *args],
                capture_output=True).stdout,
                  gzip.decompress(view_data.element(page, "perfetto")))
        for args in (("demo.stk", "--no-perfetto"), ("host.0", "host.1")):
            _, _, page = view(*args)
            check(f"{args}: no trace", b"", view_data.element(page, "perfetto"))


def cost(*args):
    """The size of the page, and the most memory in bytes."""
    with open("page.html", "wb") as out:
        child = subprocess.Popen([SO, "view", "-q", "-o", "-", *args], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
    check(f"{args}: exit code", 0, os.waitstatus_to_exitcode(status))
    return os.path.getsize("page.html"), usage.ru_maxrss * 1024


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    size, _ = cost(f"{GOLDEN}/demo.stk")
    check("size of the page of demo.stk", True, size < 5 << 20)

    # Memory grows with the stacks, not with the events.
    sanitized = b"AddressSanitizer" in subprocess.run(
        [SO, "version"], capture_output=True, env={"ASAN_OPTIONS": "help=1"}).stderr
    memory = []
    for events in (100000, 1600000):
        subprocess.run([MAKE, "large", "large.stk", str(events), "8"], check=True)
        memory.append(cost("large.stk")[1])
    check(f"memory of 16 times as many events: {memory}", True,
          sanitized or memory[1] < 1.5 * memory[0] + (8 << 20))

    # Too many cells are merged: the sums stay.
    subprocess.run([MAKE, "large", "large.stk", "1000000", "4000"], check=True)
    size, memory = cost("large.stk")
    with open("page.html", encoding="utf-8") as f:
        head, tables = view_data.load(f.read())
    check_tables("large", head, tables)
    check(f"cells: {len(tables['cells']['n'])}", True, len(tables["cells"]["n"]) <= 400000)
    check(f"size of the page of 1 M events: {size}", True, size < 10 << 20)
    check(f"memory of 1 M events: {memory}", True, sanitized or memory < 200 << 20)
    check("merged", ["tasks beyond", "time has", "stacks with"],
          [" ".join(s.split()[:2]) for s in head["thinned"]])
    tasks = [head["strings"][i] for i in tables["tasks"]["comm"]]
    check("other tasks", 1, tasks.count("(other tasks)"))
    got, want = Counter(), Counter()
    for cpu, n in zip(tables["cells"]["cpu"], tables["cells"]["n"]):
        got[head["cpus"][cpu]] += n
    for row in read_json("report", "--json", "--top", "0", "--by", "cpu", "large.stk"):
        want[row["cpu"]] += row["count"]
    check("by CPU", want, got)

end()
