#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a CTF trace, as babeltrace2 reads it, with what script --json prints.

ctf_equals.py STACKONCE FILE[,FILE...]...
ctf_equals.py STACKONCE --select FILE OPTION...

The two say the same in different forms:
  * addresses are "0x..." in JSON, numbers in CTF;
  * without a stack, the stack id is null in JSON, and 0 in CTF;
  * the string that an argument of a system call points to replaces the address in JSON, and is a
    field __NAME_val of its own in CTF; the lengths of sequences are fields in CTF only;
  * an event without fields has fields null in JSON, and no field in CTF;
  * the flags are a text in JSON;
  * names of events and of the host are escaped in CTF as for a terminal.

Where a string is empty, babeltrace2 2.0.4 may return an earlier string of the same field, as it
does not clear the field (https://review.lttng.org/c/babeltrace/+/4528).
"""

import json
import re
import subprocess
import sys
import tempfile

import bt2

MARKS = {1: "fields_missing", 2: "late", 8: "cut", 16: "not_selected"}


def safe(text):
    """As strbuf__safe() escapes what JSON has as control characters."""
    return "".join(c if 0x20 <= ord(c) < 0x7F else "\\x%02x" % ord(c) for c in text)


def plain(field):
    """A field of CTF as JSON has it."""
    if isinstance(field, bt2._StringFieldConst):
        return str(field)
    if isinstance(field, bt2._IntegerFieldConst):
        return int(field)
    if isinstance(field, bt2._ArrayFieldConst):
        return [plain(f) for f in field]
    return {name: plain(f) for name, f in field.items()}


def flags_text(flags, preempt, marks):
    irqs = "dD"[flags >> 7] if flags & 1 else "b" if flags & 0x80 else "X" if marks & 4 else "."
    need = (flags >> 2 & 1) | (flags & 2)
    resched = ("pNLB" if flags & 0x20 else ".nlb")[need]
    context = "z" if flags & 0x40 else "s" if flags & 0x10 else "."
    if flags & 8:
        context = {"z": "Z", "s": "H", ".": "h"}[context]
    depth, migrate = preempt & 15, preempt >> 4 & 15
    return irqs + resched + context + "".join("%x" % n if n else "." for n in (depth, migrate))


earlier = {}  # strings by event and field


def string_is(want, got, where):
    seen = earlier.setdefault(where, set())
    if want == "":
        return got == "" or got in seen
    seen.add(got)
    return want == got


def field_is(want, fields, name, cut, event):
    """Whether a member of JSON's fields is the field of CTF."""
    got = fields[name]
    if isinstance(want, str) and isinstance(got, str):
        return string_is(want, got, (event, name))
    value = fields.get("__%s_val" % name)
    if value:
        return want == value
    if isinstance(want, str) and isinstance(got, int):
        return int(want, 16) == got
    if cut and want == []:
        return not any(got)
    return want == got


def is_extra(name, fields, names):
    """Whether CTF has this field besides those of JSON."""
    m = re.match(r"_(.*)_length(?:_\d+)?$|__(.*)_val$", name)
    return m and name not in names and (m[1] in fields or m[2] in names)


def compare_fields(event, fields, what):
    want = event["fields"]
    if want is None:
        assert not fields, what
        return
    cut = "cut" in event.get("marks", [])
    names = {name for name, _ in want}
    got = [name for name in fields if not is_extra(name, fields, names)]
    assert len(got) == len(want), (what, want, got)
    for (name, value), as_name in zip(want, got):
        assert re.fullmatch(re.escape(name) + r"(_\d+)*", as_name), (what, name, as_name)
        assert field_is(value, fields, as_name, cut, event["event"]), (what, name, value, fields)


def members(pairs):
    """An object of JSON, or a list of its members if a name occurs twice."""
    return pairs if len(dict(pairs)) < len(pairs) else dict(pairs)


class Recording:
    """What script --json prints."""

    def __init__(self, command):
        self.events, self.stacks, self.losses = {}, {}, []
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=False)
        for line in run.stdout.splitlines():
            record = json.loads(line, object_pairs_hook=members)
            if record["type"] == "event":
                if isinstance(record["fields"], dict):
                    record["fields"] = list(record["fields"].items())
                self.events.setdefault((record["cpu"], record["ts"]), []).append(record)
            elif record["type"] == "stack":
                self.stacks[record["id"]] = record
            else:
                self.losses.append(record)

    def frames(self, number):
        return self.stacks[number]["frames"] if number in self.stacks else []


def address(frame):
    ip = int(frame["ip"], 16)
    return ip | (frame["file"] or 0) << 40 if "file" in frame else ip


def module(frame):
    return "[kernel]" if int(frame["ip"], 16) >> 63 else "[unknown]"


class Trace:
    """What babeltrace2 reads from the directory."""

    def __init__(self, path, recording):
        self.recording, self.files, self.stacks = recording, {}, set()
        self.events = {}
        self.losses, self.discarded, self.types = [], 0, {}
        self.nr = 0
        for message in bt2.TraceCollectionMessageIterator(path):
            if isinstance(message, bt2._DiscardedEventsMessageConst):
                assert message.count, "a number of lost events is unknown"
                self.discarded += message.count
            elif isinstance(message, bt2._EventMessageConst):
                self.add(message)

    def add(self, message):
        event, ts = message.event, message.default_clock_snapshot.value
        fields = plain(event.payload_field) if event.payload_field else {}
        if event.name == "stackonce:stack" and event.cls.stream_class.id == 0:
            self.add_stack(fields)
        elif event.name == "stackonce:file" and event.cls.stream_class.id == 0:
            assert fields["base"] not in self.files, "a file occurs twice"
            self.files[fields["base"]] = fields
        elif event.name == "stackonce:loss" and event.cls.stream_class.id == 0:
            self.losses.append(fields)
        else:
            cpu = int(event.packet.context_field["cpu_id"])
            context = plain(event.common_context_field)
            self.nr += 1
            self.check_stacks(context)
            self.events.setdefault((cpu, ts), []).append((event.name, context, fields))

    def add_stack(self, fields):
        number = fields["stack"]
        assert number not in self.stacks or number == 0, "stack %d occurs twice" % number
        self.stacks.add(number)
        want = self.recording.stacks[number]
        frames = want["frames"]
        assert fields["end"] == want["end"], (fields, want)
        assert fields["address"] == [address(f) for f in frames], (fields, want)
        assert fields["function"] == [f["sym"] or f["ip"] for f in frames], (fields, want)
        assert fields["offset"] == [f["off"] or 0 for f in frames], (fields, want)
        assert fields["module"] == [f["mod"] or module(f) for f in frames], (fields, want)
        assert fields["guessed"] == [int("guessed" in f) for f in frames], (fields, want)
        for f in frames:
            if f.get("file"):
                file = self.files[f["file"] << 40]
                assert file["path"] == f["path"], (file, f)
                assert file["build_id"] == (f["build_id"] or ""), (file, f)

    def check_stacks(self, context):
        for number, addresses in (("kstack", "callstack_kernel"), ("ustack", "callstack_user")):
            number = context[number]
            if number and not context["marks"] & 2:
                assert number in self.stacks, "stack %d follows its event" % number
            frames = self.recording.frames(number)
            assert context[addresses] == [address(f) for f in frames], context


def compare_event(want, got, what):
    name, context, fields = got
    assert name == safe(want["event"]), (what, name, want["event"])
    assert string_is(want["comm"], context["comm"], (name, "comm")), (what, context, want)
    for key in ("pid", "tid"):
        assert context[key] == want[key], (what, key, context, want)
    for key in ("kstack", "ustack"):
        assert context[key] == (want[key] or 0), (what, key, context, want)
    marks = context["marks"]
    assert [v for k, v in MARKS.items() if marks & k] == want.get("marks", []), (what, context)
    text = flags_text(context["flags"], context["preempt_count"], marks)
    assert text == want["flags"], (what, text, want["flags"])
    compare_fields(want, fields, what)


def compare_losses(trace, recording):
    def form(event, cpu, first, last, count):
        return (event or "any", -1 if cpu is None else cpu, first,
                2**64 - 1 if last is None else last, count or 0)

    want = [form(r["event"], r["cpu"], r["ts"], r["end_ts"], r["count"])
            for r in recording.losses]
    got = [form(f["event"], f["cpu"], f["first_ts"], f["last_ts"], f["count"])
           for f in trace.losses]
    assert sorted(want) == sorted(got), (want, got)
    lost = sum(r["count"] or 1 for r in recording.losses if not r["skipped"])
    assert trace.discarded == lost, (trace.discarded, lost)


def compare(stackonce, files, options):
    with tempfile.TemporaryDirectory() as parent:
        path = parent + "/trace"
        subprocess.run([stackonce, "export", "ctf", "-q", *options, *files, "-o", path],
                       stderr=subprocess.DEVNULL, check=False)
        recording = Recording([stackonce, "script", "--json", "--stacks", *options, *files])
        trace = Trace(path, recording)
        # Events of one CPU at one time are in the same order.
        assert recording.events.keys() == trace.events.keys(), "other times or CPUs"
        for key, events in recording.events.items():
            assert len(events) == len(trace.events[key]), key
            for want, got in zip(events, trace.events[key]):
                compare_event(want, got, (files, key))
        used = {e[k] for events in recording.events.values() for e in events
                for k in ("kstack", "ustack") if e[k]}
        assert used <= trace.stacks, used - trace.stacks
        compare_losses(trace, recording)
        print("%s: %d events, %d stacks, %d files, %d lost are equal"
              % (",".join(files), trace.nr, len(trace.stacks), len(trace.files), trace.discarded))
        return trace.nr


def main():
    stackonce, args = sys.argv[1], sys.argv[2:]
    if args[0] == "--select":
        nr = compare(stackonce, args[1:2], args[2:])
    else:
        nr = sum(compare(stackonce, files.split(","), []) for files in args)
    assert nr, "nothing was compared"


main()
