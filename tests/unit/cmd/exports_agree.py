# SPDX-License-Identifier: GPL-2.0-only
"""All exports of one recording agree, with each other and with what report, script, latency and
info print: events, their times, counts and weights by stack, pairs, losses.
exports_agree.py STACKONCE MAKE_RECORDING GOLDEN_DIR JUDGES_DIR [FORMAT...]
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

from checks import check, end
from export_readers import Export, Facts, formats

SO, MAKE, GOLDEN, JUDGES = map(os.path.realpath, sys.argv[1:5])

Case = collections.namedtuple("Case", "recordings options weight formats pairs",
                              defaults=("", "", "", ""))
CASES = [
    Case("demo", weight="child_pid"),
    Case("demo", "-e sched_switch,cpu-clock --time 20%,70% --cpu 0"),
    Case("demo", "--filter pid>100 --comm run,gzip,cat", "child_pid"),
    Case("demo", "--time 10%,80%", formats="perfetto firefox",
         pairs="--start sched_process_fork --end sched_process_exit --match child_pid=pid"),
    Case("rmap"),
    Case("rmap", "--time 20%,60%"),
    Case("waits"),
    Case("small", weight="old_pid"),
    Case("profile", weight="bytes_alloc"),
    Case("profile", "-e sched_stat_wait,sys_exit", "delay"),
    Case("latency"),
    Case("latency", "-e sys_enter,softirq_entry,block_rq_issue", "id"),
    Case("losses"),
    Case("losses", "--cpu 1"),
    Case("late-types"),
    # a selection: else the map that was imported has its own counts
    Case("aliases", "--time 0%,100%"),
    Case("empty"),
    Case("hostile"),
    Case("user-hostile"),
    # user stacks; generated code, also where one function follows another
    Case("user"),
    Case("guesses"),
    Case("replaced"),
    # two hosts: each for itself, and together in the formats that have several
    Case("fleet", weight="val"),
    Case("fleet-other", weight="val"),
    Case("fleet fleet-other", weight="val", formats="folded pprof speedscope"),
]


COVERED = set()  # formats and the facts of which there were any


def presets():
    """Those of latency whose pairs are slices without --pairs."""
    lines = subprocess.run([SO, "list", "--presets", "--json"], capture_output=True, check=True)
    rows = map(json.loads, lines.stdout.splitlines())
    return [row["name"] for row in rows
            if row["answer"].startswith("latency") and row["name"] != "runqueue"]


class Commands:
    """What the commands print of the recordings of a case."""

    def __init__(self, case):
        self.case = case
        self.printed = {}

    def lines(self, command, *args, selects=True):
        key = (command, *args)
        if key not in self.printed:
            options = self.case.options.split() if selects else []
            done = subprocess.run([SO, command, "--json", *args, *options, *files(self.case)],
                                  capture_output=True, text=True, check=False)
            # 1: the recording lacks the events of the preset
            if done.returncode not in (0, command == "latency"):
                raise RuntimeError(f"{key}: {done.stderr}")
            self.printed[key] = [json.loads(line) for line in done.stdout.splitlines()]
        return self.printed[key]

    def report(self, form, *options):
        """Event, frames and the row of each stack, in the words of a format."""
        for row in self.lines("report", "--no-symbols", "--top", "0", "--by", "event",
                              *form.report, *options):
            frames = [form.frame(frame) for frame in reversed(row["frames"])]
            yield form.event(row["event"]), frames, row

    def facts(self, form):
        facts, times = Facts(), Facts()
        for event, frames, row in self.report(form):
            facts.add(event, frames, row["count"])
        for event, frames, row in self.report(form, "--weigh", self.case.weight) if (
                self.case.weight) else ():
            facts.weigh(event, frames, row["weight"])
        for line in self.lines("script"):
            if line["type"] == "event":
                times.add(form.event(line["event"]), (), 1, line["ts"])
            else:
                facts.losses.append(line["count"] or 0)
        facts.times = times.times
        pairs = {"pairs": self.case.pairs.split()} if self.case.pairs else {
            preset: ["--preset", preset] for preset in presets()}
        facts.pairs = [(name, row["count"], row["sum_ns"]) for name, options in pairs.items()
                       for row in self.lines("latency", *options) if row["type"] == "group"]
        facts.lost = self.lines("info", selects=False)[0]["totals"]["lost"]
        return facts


def files(case):
    return [f"{name}.stk" for name in case.recordings.split()]


def differences(a, b):
    """What is only in a, or with another number, for a message that can be read."""
    if isinstance(a, list):
        a, b = collections.Counter(a), collections.Counter(b)
    return {key: n for key, n in a.items() if b[key] != n} if isinstance(a, dict) else a


def compare(case, name, form):
    what = f"{name}: {case.recordings} {case.options} {case.pairs}"
    export = Export(SO, name, files(case), [*case.options.split(), *case.pairs.split()])
    want, got = Commands(case).facts(form), Facts()
    form.read(export, got, case.weight)
    for fact in form.facts.split():
        if fact == "times" and len(files(case)) > 1:
            continue  # hosts have clocks of their own, which only some formats make one
        a, b = getattr(want, fact), getattr(got, fact)
        check(f"{what}: {fact}", differences(a, b), differences(b, a))
        if a:
            COVERED.add((name, fact))


def make_recordings():
    for name in {name for case in CASES for name in case.recordings.split()}:
        if os.path.exists(f"{GOLDEN}/{name}.stk"):
            shutil.copy(f"{GOLDEN}/{name}.stk", ".")
        else:
            subprocess.run([MAKE, name, f"{name}.stk"], check=True)


def main():
    usage = subprocess.run([SO, "export", "--help"], capture_output=True, text=True, check=True)
    listed = re.findall(r"^  (\w\S*): ", usage.stdout.split("Formats:", 1)[1], re.M)
    table = formats(JUDGES)
    check("every format has a reader", [], [name for name in listed if name not in table])
    table = {name: form for name, form in table.items()
             if name in (sys.argv[5:] or listed)}
    make_recordings()
    for case in CASES:
        for name, form in table.items():
            if not form.missing and name in (case.formats.split() or table):
                compare(case, name, form)
    missing = {name: form.missing for name, form in table.items() if form.missing}
    for name, form in table.items():
        # a comparison of nothing with nothing would find nothing
        for fact in () if name in missing else form.facts.split():
            check(f"{name}: {fact} in any recording", True, (name, fact) in COVERED)
    for name, why in missing.items():
        print(f"skipped: {name}: {why}")
    end(77 if missing else 0)


main()
