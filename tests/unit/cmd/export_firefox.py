# SPDX-License-Identifier: GPL-2.0-only
"""What `export firefox` writes: tables whose rows fit together and, read by the Firefox Profiler
itself, the threads, samples, functions and markers that the other commands print.
export_firefox.py STACKONCE MAKE_RECORDING GOLDEN_DIR JUDGES_DIR
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import check

SO, MAKE, GOLDEN, JUDGES = map(os.path.realpath, sys.argv[1:5])
KERNEL = "[kernel.kallsyms]"
PER_SAMPLE = ["stack", "time"]
PER_MARKER = ["data", "name", "startTime", "endTime", "phase", "category"]
OWN = {"type", "cause", "cpu", "comm", "pid", "tid"}  # members of markers that are no fields
MARKER_THREADS = 6  # those whose markers are compared one by one
FUNCTION_THREADS = 40


def run(*args):
    return subprocess.run([SO, *args], capture_output=True, text=True)


def rows(*args):
    return [json.loads(line) for line in run(*args).stdout.splitlines()]


# ---- the file ------------------------------------------------------------------------------------

def check_table(what, table, columns=None):
    columns = columns or [c for c in table if c != "length"]
    for column in columns:
        check(f"{what}: length of {column}", table["length"], len(table[column]))


def check_indices(what, column, nr, none=None):
    check(what, True, all(i == none or 0 <= i < nr for i in column))


def check_shared(what, file):
    shared = file["shared"]
    frames, funcs, strings = shared["frameTable"], shared["funcTable"], len(shared["stringArray"])
    for name, table in shared.items():
        if name != "stringArray":
            check_table(f"{what}: {name}", table)
    offsets = shared["stackTable"]["prefixOffset"]
    check(f"{what}: callers come first", True, all(0 <= d <= i for i, d in enumerate(offsets)))
    check_indices(f"{what}: frames", shared["stackTable"]["frame"], frames["length"])
    check_indices(f"{what}: functions", frames["func"], funcs["length"])
    check_indices(f"{what}: libs", frames["lib"], len(file["libs"]), -1)
    check_indices(f"{what}: names", funcs["name"], strings)
    check_indices(f"{what}: resources", funcs["resource"], len(file["libs"]), -1)
    check_indices(f"{what}: sources", funcs["source"], shared["sources"]["length"])
    check_indices(f"{what}: categories", frames["category"], len(file["meta"]["categories"]))
    check(f"{what}: no stack twice", len(offsets), len(set(
        (i - d if d else None, f) for i, (d, f) in
        enumerate(zip(offsets, shared["stackTable"]["frame"])))))
    check(f"{what}: no string twice", strings, len(set(shared["stringArray"])))


def check_markers(what, file, markers):
    schemas = {s["name"]: {f["key"] for f in s["fields"]} for s in file["meta"]["markerSchema"]}
    check(f"{what}: no schema twice", len(file["meta"]["markerSchema"]), len(schemas))
    for data in markers["data"]:
        known = schemas.get(data["type"])
        if known is None or not set(data) <= known | {"type", "cause"}:
            check(f"{what}: members of {data['type']}", known, set(data))
        if "cause" in data:
            check_indices(f"{what}: cause", [data["cause"]["stack"]],
                          file["shared"]["stackTable"]["length"])
    for start, end, phase in zip(markers["startTime"], markers["endTime"], markers["phase"]):
        check(f"{what}: phase", 0 if end is None else 1, phase)
        check(f"{what}: times", True, start >= 0 and (end is None or end >= start))


def check_file(what, file):
    check_shared(what, file)
    mains = set()
    for thread in file["threads"]:
        name = f"{what}: {thread['name']}"
        samples, markers = thread["samples"], thread["markers"]
        weighed = samples["weight"] is not None
        check_table(name, samples, PER_SAMPLE + (["weight"] if weighed else []))
        check_table(name, markers, PER_MARKER)
        check_indices(f"{name}: stacks", samples["stack"], file["shared"]["stackTable"]["length"])
        check_indices(f"{name}: names", markers["name"], len(file["shared"]["stringArray"]))
        check(f"{name}: sorted", samples["time"], sorted(samples["time"]))
        check_markers(name, file, markers)
        if thread["isMainThread"]:
            check(f"{name}: one main thread", False, thread["pid"] in mains)
            mains.add(thread["pid"])


def export(*args):
    done = run("export", "firefox", "-o", "-", "--no-symbols", *args)
    check(f"export {args}", 0, done.returncode)
    file = json.loads(done.stdout)
    check_file(args, file)
    return file, done.stdout, done.stderr


# ---- the judge -----------------------------------------------------------------------------------

def fetch():
    """Node and the profiler; None, after a line that says why: skipped."""
    done = subprocess.run(["sh", f"{JUDGES}/../../npm/fetch.sh", "node", "profiler_cli"], text=True,
                          stdout=subprocess.PIPE)
    if done.returncode not in (0, 77):
        check("fetch.sh", 0, done.returncode)
    dirs = done.stdout.split()
    return None if done.returncode else (f"{dirs[0]}/bin/node", dirs[1])


class Profiler:
    """A profile loaded into the Firefox Profiler."""

    def __init__(self, judge, text):
        with open("profile.json", "w", encoding="utf-8") as file:
            file.write(text)
        self.process = subprocess.Popen(
            [judge[0], f"{JUDGES}/profiler_cli.js", judge[1], "profile.json"], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, command, subcommand, **more):
        self.process.stdin.write(json.dumps(
            {"command": command, "subcommand": subcommand, **more}) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline() or '{"error": "no answer"}')
        if "error" in reply:
            check(f"{command} {subcommand} {more}", None, reply["error"])
        return reply

    def close(self):
        self.process.stdin.close()
        check("the profiler's end", 0, self.process.wait())


def code_of(frame):
    """A frame of ours as the profiler names functions: name, library."""
    name = frame["sym"] or (f"{frame['mod']}+" if frame["mod"] else "") + frame["ip"]
    if "file" in frame:
        return name, frame["mod"] if frame["file"] else None
    return name, None if name in ("[idle]", "[guess]") else frame["mod"] or KERNEL


def thread_key(row):
    return row["comm"], str(row["pid"]), row["tid"]


def wanted(weight, *args):
    """By thread: samples, and own and all weight of each function, from our stacks."""
    threads = collections.defaultdict(
        lambda: {"samples": 0, "own": collections.Counter(), "all": collections.Counter()})
    for row in rows("report", "--json", "--no-symbols", "--top", "0", "--by", "comm,pid,tid",
                    *args):
        if row["type"] != "stack":
            continue
        thread = threads[thread_key(row)]
        codes = [code_of(f) for f in row["frames"]]
        if codes:
            thread["samples"] += row["count"]
            thread["own"][codes[0]] += row[weight]
            for code in set(codes):
                thread["all"][code] += row[weight]
    return threads


def compare_functions(what, profiler, handle, want):
    reply = profiler.ask("thread", "functions", thread=handle, includeIdle=True)
    got = {(f["name"], f.get("library")): (f["selfSamples"], f["totalSamples"])
           for f in reply["functions"] if f["totalSamples"]}
    check(f"{what}: functions", {code: (want["own"][code], n) for code, n in want["all"].items()
                                 if n}, got)


def compare_markers(what, profiler, handle, events, first, kinds, stacks):
    """Each marker has the name, time and fields of an event of its thread."""
    reply = profiler.ask("thread", "markers", thread=handle, markerFilters={"list": True})
    got = sorted((m["name"], round(m["start"] * 1e6), m["hasStack"])
                 for m in reply.get("flatMarkers", []) if m["category"] == "Events")
    want = sorted((e["event"].split(":", 1)[1], e["ts"] - first,
                   any(e[kind] in stacks for kind in kinds)) for e in events)
    check(f"{what}: markers", want, got)
    for marker in reply.get("flatMarkers", [])[:3]:
        info = profiler.ask("marker", "info", marker=marker["handle"])
        found = [e for e in events if e["ts"] - first == round(marker["start"] * 1e6)
                 and e["event"] == info["markerType"]]
        fields = {f["key"]: f["value"] for f in info["fields"]}
        check(f"{what}: fields", True, any(
            {**{f"field.{n}" if n in OWN else n: v for n, v in (e["fields"] or {}).items()},
             "cpu": e["cpu"]} == fields for e in found))


def judge_profile(judge, what, text, *args):
    """The profiler finds in the profile what report and script do in the recording."""
    weigh = "--weigh" in args
    kinds = {"--kernel": ["kstack"], "--user": ["ustack"]}.get(args[0], ["kstack", "ustack"])
    want = wanted("weight" if weigh else "count", *args)
    printed = rows("script", "--json", "--stacks", *selection(args))
    stacks = {s["id"] for s in printed if s["type"] == "stack" and s["frames"]}
    printed = [e for e in printed if e["type"] == "event"]
    events = collections.defaultdict(list)
    for e in printed:
        if not e["event"].startswith("sample:"):
            events[thread_key(e)].append(e)
    first = min((e["ts"] for e in printed), default=0)
    file = json.loads(text)
    profiler = Profiler(judge, text)
    for i, thread in enumerate(file["threads"]):
        key = thread["name"], thread["pid"], thread["tid"]
        if key not in want:
            check(f"{what}: thread {key}", True, key[1] == key[2] or key[0] == key[2])
            continue
        name = f"{what}: thread {i} {key}"
        info = profiler.ask("thread", "info", thread=f"t-{i}")
        check(f"{name}: name, number, samples", (*key[::2], want[key]["samples"]),
              (info["name"], info["tid"], info["sampleCount"]))
        if not weigh:
            check(f"{name}: markers", len(events[key]),
                  sum(c == 5 for c in thread["markers"]["category"]))
        if i < FUNCTION_THREADS:
            compare_functions(name, profiler, f"t-{i}", want[key])
        if i < MARKER_THREADS and not weigh:
            compare_markers(name, profiler, f"t-{i}", events[key], first, kinds, stacks)
        del want[key]
    check(f"{what}: all threads", [], list(want))
    info = profiler.ask("profile", "info", all=True)
    check(f"{what}: number of threads", len(file["threads"]), info.get("threadCount"))
    profiler.close()


def selection(args):
    """What of the arguments script takes, too."""
    rest = list(args)
    for option, words in (("--weigh", 2), ("--fold", 2), ("--kernel", 1), ("--user", 1)):
        if option in rest:
            at = rest.index(option)
            del rest[at:at + words]
    return rest


# ---- the cases -----------------------------------------------------------------------------------

def check_pairs(recording, preset):
    """Pairs are those that latency measures."""
    file, _, _ = export("--pairs", preset, recording)
    got = collections.Counter()
    times = collections.Counter()
    strings = file["shared"]["stringArray"]
    for thread in file["threads"]:
        m = thread["markers"]
        for data, name, start, end in zip(m["data"], m["name"], m["startTime"], m["endTime"]):
            if data["type"] == f"pair {preset}":
                got[strings[name]] += 1
                times[strings[name]] += round((end - start) * 1e6)
    want = {}
    for row in rows("latency", "--preset", preset, "--json", recording):
        if row["type"] == "group":
            name = "pairs" if row["group"] == "all" else (
                row["group"].split("=", 1)[1] if len(row["by"]) == 1 else row["group"])
            want[name] = (row["count"], row["sum_ns"])
    check(f"{recording}: there are pairs of {preset}", True, bool(want))
    check(f"{recording}: pairs of {preset}", want, {n: (got[n], times[n]) for n in got})


def check_losses():
    file, _, said = export("losses.stk")
    got = [(d.get("count", 0), f"{d['system']}:{d['event']}" if "event" in d else None,
            d.get("cpu"), round((e - s) * 1e6))
           for t in file["threads"] if t["name"] == "Lost events"
           for d, s, e in zip(*(t["markers"][c] for c in PER_MARKER if c in (
               "data", "startTime", "endTime")))]
    want = [(r["count"] or 0, r["event"], r["cpu"], r["end_ts"] - r["ts"])
            for r in rows("script", "--json", "losses.stk") if r["type"] == "loss"]
    check("losses", sorted(want, key=str), sorted(got, key=str))
    check("losses: said", True, f"{sum(w[0] for w in want) - 3} lost" in said)
    skipped = [r for r in rows("script", "--json", "losses.stk") if r.get("skipped")]
    check("losses: skipped", [3], [r["count"] for r in skipped])
    check("losses: skipped ones have a name", 1, sum(
        file["shared"]["stringArray"][name] == "Skipped samples"
        for t in file["threads"] for name in t["markers"]["name"]))


def check_by():
    """Threads are groups: of one CPU each, or of one event."""
    file, _, _ = export("--by", "cpu", "demo.stk")
    check("by cpu: threads", {"cpu 0", "cpu 1"}, {t["name"] for t in file["threads"]})
    check("by cpu: processes", {("cpu", "0")},
          {(t["processName"], t["pid"]) for t in file["threads"]})
    check("by cpu: tasks of markers", {"comm", "pid", "tid"}, {
        "comm", "pid", "tid", "cpu"} & set(file["threads"][0]["markers"]["data"][0]))
    want = collections.Counter()
    for row in rows("report", "--json", "--top", "0", "--by", "cpu", "demo.stk"):
        want[f"cpu {row['cpu']}"] += row["count"] if row["frames"] else 0
    check("by cpu: samples", dict(want),
          {t["name"]: t["samples"]["length"] for t in file["threads"]})
    file, _, _ = export("--by", "event", "--pairs", "none", "demo.stk")
    check("by event: markers of a thread", True, all(
        len({d["type"] for d in t["markers"]["data"]}) <= 1 for t in file["threads"]))


def check_folding():
    file, _, _ = export("--fold", "idle", "profile.stk")
    shared = file["shared"]
    names = [shared["stringArray"][i] for i in shared["funcTable"]["name"]]
    categories = [c["name"] for c in file["meta"]["categories"]]
    check("idle: category", "Idle", next(
        categories[c] for c, f in zip(shared["frameTable"]["category"],
                                      shared["frameTable"]["func"]) if names[f] == "[idle]"))


def check_meta():
    file, _, _ = export("--event", "cpu_clock", "profile.stk")
    check("interval of samples", 1, file["meta"]["interval"])
    check("samples have no markers", 0, sum(t["markers"]["length"] for t in file["threads"]))
    file, _, said = export("--weigh", "bytes_alloc", "profile.stk")
    check("bytes", {"bytes"}, {t["samples"]["weightType"] for t in file["threads"]})
    check("left out", True, "without a number 'bytes_alloc' left out" in said)
    file, _, _ = export("--weigh", "delay", "profile.stk")
    check("times", {"tracing-ms"}, {t["samples"]["weightType"] for t in file["threads"]})
    total = sum(round(w * 1e6) for t in file["threads"] for w in t["samples"]["weight"])
    check("times: sum", sum(r["weight"] for r in rows(
        "report", "--json", "--top", "0", "--weigh", "delay", "profile.stk") if r["frames"]),
        total)
    file, _, _ = export("demo.stk")
    info = rows("info", "--json", "demo.stk")[0]
    check("build id of the kernel", [info["meta"]["kernel.build_id"]],
          [lib["codeId"] for lib in file["libs"] if lib["name"] == KERNEL])
    check("product", info["meta"]["hostname"], file["meta"]["product"])


def check_hostile():
    """Names of the recording are data: valid JSON, and no field takes the place of a member."""
    _, text, _ = export("hostile.stk")
    check("no byte of a terminal or of markup", True, not set("\x1b\x07<>&") & set(text))
    file, _, _ = export("--event", "sched_process_exec", "demo.stk")
    data = [d for t in file["threads"] for d in t["markers"]["data"]]
    check("a field of a generic name", True, all("field.pid" in d for d in data) and bool(data))


def main():
    judge = fetch()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        for kind in ("small", "empty", "hostile", "user-hostile", "user", "guesses", "profile",
                     "aliases", "losses", "latency", "late-types"):
            subprocess.run([MAKE, kind, f"{kind}.stk"], check=True)
        for name in ("demo", "waits", "rmap"):
            shutil.copy(f"{GOLDEN}/{name}.stk", ".")
        for name, preset in (("latency", "syscalls"), ("latency", "softirq"), ("rmap", "rmap")):
            check_pairs(f"{name}.stk", preset)
        check_losses()
        check_by()
        check_folding()
        check_meta()
        check_hostile()
        check("empty", [], export("empty.stk")[0]["threads"])
        cases = [["small.stk"], ["user.stk"], ["guesses.stk"], ["aliases.stk"], ["hostile.stk"],
                 ["user-hostile.stk"], ["late-types.stk"], ["demo.stk"],
                 ["--user", "user.stk"], ["--kernel", "--time", "20%,60%", "waits.stk"],
                 ["--fold", "interrupts,guesses", "profile.stk"],
                 ["--weigh", "bytes_alloc", "profile.stk"]]
        for args in cases:
            _, text, _ = export("--pairs", "none", *args)
            if judge:
                judge_profile(judge, args, text, *args)
    print(f"{checks.checked} checks, {checks.failed} failed"
          f"{'' if judge else '; the profiler was not asked'}")
    sys.exit(1 if checks.failed else 0 if judge else 77)


main()
