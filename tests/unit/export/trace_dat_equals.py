#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a trace.dat file, as trace-cmd and KernelShark's library read it, with script --json.

trace_dat_equals.py STACKONCE KSHARK_READ FILE[,FILE...][:OPTION...]...

KSHARK_READ is "" where the library is missing.  The two say the same in different forms:
  * a task has one name, the last; the idle task is <idle>, one without a name <...>;
  * names of event types have letters, digits and '_', those of events without fields end in
    _no_fields, those of function probes begin with their system; functions have no blanks, and are
    escaped as for a terminal, as names of tasks are;
  * the string that an argument of a system call points to replaces the address in JSON, and is a
    field __NAME_val of its own in the file;
  * trace-cmd prints arrays, and strings that are not printable, as bytes.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from checks import check, end

SO, KSHARK = sys.argv[1:3]
ENTRY = re.compile(r"(.*)-(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): ([^ ]*): ?(.*)", re.S)
LOST = re.compile(r"CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]$")
HEAD = re.compile(r"cpus=\d+$|CPU \d+ is empty$|stackonce \d")
MAX_USER = 1024
PROBES = {"f", "r", "u", "ur", "usdt"}


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")


def safe(text):
    """As strbuf__safe() escapes what script --json has."""
    return "".join("\\x%02x" % ord(c) if ord(c) < 0x20 or 0x7F <= ord(c) < 0x100 else c
                   for c in text)


def utf8(text):
    """What JSON has as characters, as the bytes of a text that was read as latin-1."""
    return text.encode("utf-8").decode("latin-1")


def name_of(event, no_fields):
    system, name = event.split(":", 1)
    # a character below 256 is a byte that is not UTF-8
    word = "".join(c if re.match("[A-Za-z0-9]", c) else "_" * (ord(c) < 256 or len(c.encode()))
                   for c in name)
    word = word or "_"
    if system in PROBES:
        word = system + "_" + word
    return word + ("_no_fields" if no_fields else "")


# ---- the recording ------------------------------------------------------------------------------

def members(pairs):
    """An object of JSON, or a list of its members if a name occurs twice."""
    return pairs if len(dict(pairs)) < len(pairs) else dict(pairs)


class Recording:
    def __init__(self, files, options):
        self.events, self.stacks, self.comms = collections.defaultdict(list), {}, {}
        _, out, _ = run(SO, "script", "--json", "--stacks", *options, *files)
        for line in out.encode("latin-1").decode("utf-8").splitlines():
            record = json.loads(line, object_pairs_hook=members)
            if record["type"] == "event":
                self.events[record["cpu"], record["ts"]].append(record)
                self.comms[record["tid"]] = record["comm"]
            elif record["type"] == "stack":
                self.stacks[record["id"]] = record
        self.nr = sum(map(len, self.events.values()))

    def task(self, tid):
        name = utf8(safe(self.comms[tid])) or "<...>"
        name = "\\x20" + name[1:] if name.startswith(" ") else name
        return "<idle>" if tid == 0 else name

    def kernel(self, event):
        """The lines of the kernel stack."""
        frames = self.stacks[event["kstack"]]["frames"] if event["kstack"] else []
        return [(utf8(safe(f["sym"])).replace(" ", "_") if f["sym"] else None, int(f["ip"], 16))
                for f in frames]

    def user(self, event):
        """The text of the user stack; None: there is none."""
        if not event["ustack"]:
            return None
        stack = self.stacks[event["ustack"]]
        words, frames = [], stack["frames"]
        for f in frames:
            mod = f["mod"]
            words.append(("? " if "guessed" in f else "") + safe(
                "%s+0x%x%s" % (f["sym"], f["off"], "" if not mod else
                               " " + mod if mod.startswith("[") else " [%s]" % mod)
                if f["sym"] else "%s0x%x" % (mod + "+" if mod else "", int(f["ip"], 16))))
        if not frames:
            return None
        nr = len(words)
        while len(" <- ".join(words).encode()) > MAX_USER:
            words.pop()
        if len(words) < nr:
            words.append("... %d more" % (nr - len(words)))
        end_ = "" if stack["end"] == "complete" else " (%s)" % stack["end"]
        return utf8(" <- ".join(words) + end_)


# ---- the file, by its readers -------------------------------------------------------------------

Entry = collections.namedtuple("Entry", "task pid event info numbers")


class Trace:
    def __init__(self):
        self.entries, self.lost, self.nr = collections.defaultdict(list), 0, 0

    def add(self, cpu, ts, entry):
        self.entries[cpu, ts].append(entry)
        self.nr += 1


def by_trace_cmd(path, *options):
    """Texts of a line go on in the next ones."""
    code, out, err = run("trace-cmd", "report", "-t", *options, path)
    check(f"{path}: trace-cmd", (0, ""), (code, err))
    trace, last = Trace(), None
    for line in out.removesuffix("\n").split("\n") + ["cpus=0"]:
        m, lost = ENTRY.match(line), LOST.match(line)
        if not m and not lost and not HEAD.match(line):
            last = last and (*last[:-1], last[-1] + "\n" + line)
            continue
        if last:
            task, pid, cpu, s, ns, event, info = last
            trace.add(int(cpu), int(s) * 10**9 + int(ns),
                      Entry(task.lstrip(" "), int(pid), event, info.lstrip(" "), None))
        last = m.groups() if m else None
        trace.lost += int(lost[2] or 0) if lost else 0
    return trace


def by_kshark(path):
    code, out, err = run(KSHARK, path)
    check(f"{path}: KernelShark", (0, ""), (code, err))
    trace = Trace()
    for line in out.splitlines():
        e = json.loads(line)
        if "lost" in e:
            trace.lost += max(e["lost"], 0)
            continue
        trace.add(e["cpu"], e["ts"] % 2**64, Entry(
            e["task"], e["pid"], e["event"].split("/", 1)[1], e["info"], e["numbers"]))
    return trace


# ---- fields -------------------------------------------------------------------------------------

def raw_fields(info, names):
    """Texts of fields by name; a name may occur twice."""
    values, at, last = {}, 0, None
    for name in names:
        i = info.find(name + "=", at) if not at else info.find(" " + name + "=", at - 1)
        if i < 0:
            return None
        i += bool(at)
        if last is not None:
            values.setdefault(last, []).append(info[at:i].rstrip(" "))
        last, at = name, i + len(name) + 1
    if last is not None:
        values.setdefault(last, []).append(info[at:])
    return values


def to_bytes(text):
    m = re.fullmatch(r"ARRAY\[((?:[0-9a-f]{2}(?:, )?)*)\]", text)
    return bytes.fromhex(m[1].replace(", ", "")) if m else None


def number_is(want, text):
    """Readers take some signed numbers for unsigned ones of their size."""
    value = int(text, 16 if text.startswith("0x") else 10)
    return any((value - want) % 2**bits == 0 and -2**bits < value < 2**bits
               for bits in (8, 16, 32, 64))


def array_is(want, data):
    if not want:
        return not any(data)
    size = len(data) // len(want)
    return [int.from_bytes(data[i * size:(i + 1) * size], "little") for i in range(len(want))] == [
        n % 256**size for n in want]


def bytes_are(want, text):
    return all(isinstance(n, int) and 0 <= n < 256 for n in want) and (
        bytes(want).split(b"\0")[0] == text.encode("latin-1"))


def value_is(want, text):
    data = to_bytes(text)
    if isinstance(want, list):
        # bytes may be printed as a string
        return array_is(want, data) if data is not None else bytes_are(want, text)
    if isinstance(want, int):
        return number_is(want, text)
    if data is not None:
        text = data.split(b"\0")[0].decode("utf-8", "surrogateescape")
        return "".join(chr(ord(c) - 0xDC00) if 0xDC00 <= ord(c) < 0xDD00 else c
                       for c in text) == want
    if re.fullmatch("0x[0-9a-f]+", want):
        return address_is(int(want, 16), text)
    return utf8(want) == text


def address_is(want, text):
    """Of a pointer, trace-cmd may print the function or the string; compare_numbers() has it."""
    if re.fullmatch("(0x)?[0-9a-f]+", text):
        return want in (int(text, 16), int(text, 10) if text.isdigit() else None)
    return want >> 63 == 1


def string_is(want, text):
    """The string that an argument points to; of several, trace-cmd may print the first."""
    if not isinstance(want, list):
        return value_is(want, text)
    data = to_bytes(text)
    return want[:1] == [text] if data is None else [
        s.decode() for s in data.split(b"\0")[:-1]] == want


def compare_fields(event, info, what):
    fields = event["fields"]
    fields = list(fields.items()) if isinstance(fields, dict) else fields
    names = [name for name, _ in fields]
    strings = [n for n in re.findall(r" (__\w+_val)=", info) if n not in names]
    values = raw_fields(info, names + strings)
    check(f"{what}: fields", True, values is not None)
    for name, want in fields if values else []:
        text, string = values[name].pop(0), values.get(f"__{name}_val")
        check(f"{what}: {name} {want!r} {text!r} {string}", True,
              value_is(want, text) or bool(string) and string_is(want, string[0]))


def compare_numbers(event, numbers, what):
    fields = event["fields"]
    for name, want in fields.items() if isinstance(fields, dict) else []:
        if isinstance(want, str) and re.fullmatch("0x[0-9a-f]+", want):
            want = int(want, 16)
        if isinstance(want, int) and name in numbers:
            check(f"{what}: number {name}", True, number_is(want, str(numbers[name])))


# ---- the comparison -----------------------------------------------------------------------------

def stack_lines(info):
    lines = info.split("\n")
    check("head of a stack", "<stack trace >", lines[0])
    found = []
    for line in lines[1:]:
        m = re.fullmatch(r"=> (?:(.*) \()?([0-9a-f]+)\)?", line)
        if m:
            found.append((m[1], int(m[2], 16)))
        elif line:
            check("a line of a stack", "", line)
    return found


def compare_stack(want, info, what):
    got = stack_lines(info)
    # an address without a name may lie behind a function
    check(what, [ip for _, ip in want], [ip for _, ip in got])
    check(what, [name for name, _ in want],
          [None if name == "[unknown]" else name for name, _ in got])


def compare(what, recording, trace, is_raw):
    check(f"{what}: times and CPUs", recording.events.keys(), trace.entries.keys())
    for key, events in recording.events.items():
        entries = iter(trace.entries.get(key, []))
        for event in events:
            at = f"{what} {key}"
            no_fields = "fields_missing" in event.get("marks", [])
            e = next(entries, None)
            if e is None:
                check(f"{at}: an event", event, None)
                return
            check(at, (recording.task(event["tid"]), event["tid"],
                       name_of(event["event"], no_fields)), (e.task, e.pid, e.event))
            if is_raw and not no_fields:
                compare_fields(event, e.info, at)
            if e.numbers:
                compare_numbers(event, e.numbers, at)
            kernel, user = recording.kernel(event), recording.user(event)
            if kernel:
                e = next(entries)
                check(at, (event["tid"], "kernel_stack"), (e.pid, e.event))
                if not is_raw:
                    compare_stack(kernel, e.info, f"{at}: kernel stack")
            if user is not None:
                e = next(entries)
                check(at, (event["tid"], "user_stack"), (e.pid, e.event))
                check(f"{at}: user stack", user, e.info.split("frames=", 1)[-1])
        check(f"{what} {key}: entries left", [], list(entries))


def compare_files(files, options):
    path = "trace.dat"
    if os.path.exists(path):
        os.remove(path)
    run(SO, "export", "trace.dat", "-q", *options, *files, "-o", path, "--force")
    recording = Recording(files, options)
    what = ",".join(files) + " " + " ".join(options)
    traces = [("trace-cmd", by_trace_cmd(path), False),
              ("trace-cmd -R", by_trace_cmd(path, "-R"), True)]
    if KSHARK:
        traces.append(("KernelShark", by_kshark(path), False))
    for reader, trace, is_raw in traces:
        compare(f"{what} by {reader}", recording, trace, is_raw)
        print(f"{what} by {reader}: {recording.nr} events, {trace.nr} entries, {trace.lost} lost")
    return recording.nr


total = 0
for word in sys.argv[3:]:
    names, *rest = word.split(":", 1)
    total += compare_files(names.split(","), rest[0].split() if rest else [])
check("events were compared", True, total > 0)
end()
