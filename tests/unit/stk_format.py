#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A reader of recordings written from stk-format(5) alone, compared with the real one.

stk_format.py STACKONCE RECORDING...   compares events, fields, stacks and counters
"""
import ctypes
import ctypes.util
import json
import re
import struct
import subprocess
import sys

U64 = (1 << 64) - 1
CRC_TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    CRC_TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2


def unpack(codec, stored, raw_len):
    if codec == 0:
        assert len(stored) == raw_len
        return stored
    assert codec == 1
    out = ctypes.create_string_buffer(raw_len + 1)
    assert zstd.ZSTD_decompress(out, raw_len, stored, len(stored)) == raw_len
    return out.raw[:raw_len]


class Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, n):
        assert n <= self.left(), "beyond the end of the payload"
        self.at += n
        return self.data[self.at - n:self.at]

    def u8(self):
        return self.take(1)[0]

    def varint(self):
        v = shift = 0
        while True:
            byte = self.u8()
            v |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert v <= U64
                return v

    def svarint(self):
        return unzigzag(self.varint())

    def varints(self, n):
        return [self.varint() for _ in range(n)]

    def string(self):
        return self.take(self.varint())

    def planes(self, n, width):
        runs = [self.take(n) for _ in range(width)]
        return [sum(run[i] << 8 * k for k, run in enumerate(runs)) for i in range(n)]


def unzigzag(v):
    return (v >> 1) ^ (U64 if v & 1 else 0)


class Recording:
    def __init__(self, data):
        self.meta, self.types, self.symbols = {}, [], {}
        self.tasks, self.nodes, self.stacks = {}, {}, {}
        self.counters, self.events, self.clean = {}, [], False
        self.blocks, self.codings = {}, set()
        self.files, self.user_symbols, self.hashes = {}, {}, {0: 0}
        self.part = None
        head = struct.unpack_from("<8sHHI16sQQ12sI", data)
        assert head[0] == b"\x89STK\r\n\x1a\n" and head[1] == 1
        assert head[8] == crc32c(data[:60]) and head[7] == bytes(12)
        at = head[3]
        while at < len(data):
            h = struct.unpack_from("<IHHIIIIII", data, at)
            assert h[0] == 0x4B4C4253 and h[8] == crc32c(data[at:at + 28])
            stored = data[at + 32:at + 32 + h[3]]
            assert h[7] == (crc32c(stored[:64]) if h[1] == 7 and head[2] >= 4 else 0)
            assert len(stored) == h[3] and h[6] == crc32c(stored)
            at += 32 + h[3]
            self.block(h[1], h[5], unpack(h[2], stored, h[4]))

    def block(self, kind, aux, payload):
        self.blocks[kind] = self.blocks.get(kind, 0) + 1
        c = Cursor(payload)
        take = {1: self.take_meta, 2: self.take_types, 3: self.take_tasks, 4: self.take_nodes,
                5: self.take_stacks, 6: self.take_symbols, 7: self.take_events,
                8: self.take_round, 9: self.take_accounting, 11: self.take_end,
                12: self.take_files, 13: self.take_user_symbols,
                16: self.take_replaced, 17: self.take_meta_part}.get(kind)
        if not take:
            return
        if kind == 7:
            take(c, aux)
        else:
            take(c)
        assert c.left() == 0, f"{c.left()} bytes left in a block of type {kind}"

    def take_meta(self, c):
        while c.left():
            key = c.string()
            self.meta[key] = c.string()

    def take_meta_part(self, c):
        key, length, offset = c.string(), c.varint(), c.varint()
        assert length <= 1 << 28 and c.left()
        if offset == 0:
            self.part = (key, length, b"")
        assert self.part[:2] == (key, length) and len(self.part[2]) == offset
        self.part = (key, length, self.part[2] + c.take(c.left()))
        assert len(self.part[2]) <= length
        if len(self.part[2]) == length:
            self.meta[key] = self.part[2]

    def take_end(self, c):
        self.take_meta(c)
        self.clean = True

    def take_types(self, c):
        while c.left():
            assert c.varint() == len(self.types)
            t = {"kind": c.varint(), "name": c.string() + b":" + c.string(),
                 "filter": c.string(), "format": c.string(), "id": c.varint() & 0xFFFF,
                 "columns": []}
            end = 8
            for _ in range(c.varint()):
                offset = end + c.varint()
                end = offset + c.varint()
                t["columns"].append((offset, end - offset))
            t["fixed"] = end
            self.types.append(t)

    def take_tasks(self, c):
        while c.left():
            assert c.varint() == len(self.tasks) + 1
            self.tasks[len(self.tasks) + 1] = (c.varint(), c.varint(), c.string())

    def take_nodes(self, c):
        first, count = c.varint(), c.varint()
        assert first == len(self.nodes) + 1
        frames, frame = [], 0
        for _ in range(count):
            frame = (frame + c.svarint()) & U64
            assert frame >> 63 or not frame >> 40 or frame >> 40 in self.files
            frames.append(frame)
        for i, up in enumerate(c.varints(count)):
            self.nodes[first + i] = (frames[i], first + i - up if up else 0)

    def take_stacks(self, c):
        first, count, _generation, flags = c.varints(4)
        assert first == len(self.stacks) + 1
        for i in range(count):
            node = c.varint()
            imported = c.varints(2) if flags & 1 else None
            self.stacks[first + i] = (node, imported)

    def take_symbols(self, c):
        start = 0
        while c.left():
            start = (start + c.svarint()) & U64
            self.symbols[start] = (c.varint(), c.string(), c.string())

    def take_files(self, c):
        while c.left():
            number = c.varint()
            f = {"kind": c.varint(), "flags": c.varint()}
            name = c.string(), c.string()
            f["dev"] = c.varint(), c.varint()
            f["inode"], f["size"], f["mtime"] = c.varints(3)
            f["id"] = c.varint(), c.string()
            f["pid"], f["start"], f["base"] = c.varints(3)
            f["names"] = [name]
            known = self.files.get(number)
            f["names"] = another_name(known["names"] if known else [], name)
            if known and (known["id"][1] or not f["id"][1]):
                f["hash"] = known["hash"]
            else:
                assert known or number == len(self.files) + 1 < 1 << 23
                f["hash"] = self.short_id(number, f)
            self.files[number] = f

    def short_id(self, number, f):
        h = fnv(2166136261, f["id"][1] or f["names"][0][0] + struct.pack("<QQ", f["size"],
                                                                        f["mtime"]))
        if h in self.hashes:
            h = fnv(h, struct.pack("<I", number))
        while h in self.hashes:
            h = h + 1 & 0xffffffff
        self.hashes[h] = number
        return h

    def take_user_symbols(self, c):
        while c.left():
            number, start, symbols = c.varint(), 0, []
            for _ in range(c.varint()):
                start = (start + c.svarint()) & U64
                symbols.append((start, c.varint(), c.string()))
            self.user_symbols[number] = symbols

    def take_replaced(self, c):
        file = offset = ts = 0
        while c.left():
            file, offset, ts = file + c.svarint(), offset + c.svarint(), ts + c.svarint()
            assert self.files[file]["kind"] == 2 and 0 <= offset < 1 << 40 and ts >= 0
            assert self.files[c.varint()]["kind"] == 2

    def user_symbol(self, number, at):
        """(start, name) of the symbol that contains the offset, or None."""
        best, starts = None, sorted(s[0] for s in self.user_symbols[number])
        for start, size, name in self.user_symbols[number]:
            end = start + size if size else min([s for s in starts if s > start] + [U64 + 1])
            if start <= at < end and (not best or start >= best[0]):
                best = start, name.decode()
        return best if best and best[1] else None

    def take_round(self, c):
        struct.unpack("<4Q", c.take(32))

    def take_accounting(self, c):
        nr = c.varint()
        while c.left():
            index = c.varint()
            self.counters[index] = c.varints(nr)

    def take_events(self, c, cpu):
        h = struct.unpack("<IIQQQQIIIIII", c.take(64))
        heads = Cursor(unpack(h[8], c.take(h[6]), h[7]))
        body = Cursor(unpack(h[11], c.take(h[9]), h[10]))
        n = heads.varint()
        tuples = list(zip(*[heads.varints(n) for _ in range(7)]))
        widths = heads.u8(), heads.u8()
        tokens = heads.planes(h[0], widths[0])
        ts, events = h[3], []
        for token, delta in zip(tokens, heads.planes(h[0], widths[1])):
            ts = (ts + unzigzag(delta)) & U64
            events.append({"ts": ts, "cpu": cpu, "tuple": tuples[token], "record": None})
        assert heads.left() == 0
        assert min(e["ts"] for e in events) == h[4] and max(e["ts"] for e in events) == h[5]
        for index in sorted({e["tuple"][0] for e in events}):
            own = [e for e in events if e["tuple"][0] == index and not e["tuple"][6] & 1]
            if own:
                self.take_records(body, self.types[index], own)
        assert body.left() == 0
        self.events += events

    def take_records(self, c, t, events):
        columns, fixed = t["columns"], t["fixed"]
        nr, width = c.varint(), c.u8()
        coding, tail = list(c.take(len(columns))), c.u8()
        self.codings |= set(coding)
        lengths = c.varints(nr)
        entries = [bytearray(n) for n in lengths]
        for (offset, size), code in zip(columns, coding):
            for entry in entries if code == 0 else []:
                if len(entry) >= fixed:
                    entry[offset:offset + size] = c.take(size)
        for entry in entries if tail == 0 else []:
            start = fixed if len(entry) >= fixed else 8
            entry[start:] = c.take(len(entry) - start)
        for e, token in zip(events, c.planes(len(events), width)):
            e["record"] = bytearray(entries[token])
        full = [e["record"] for e in events if len(e["record"]) >= fixed]
        for (offset, size), code in zip(columns, coding):
            if code == 1:
                for record in full:
                    record[offset:offset + size] = c.take(size)
            elif code:
                value = 0
                for record, v in zip(full, c.planes(len(full), size)):
                    value = (value + unzigzag(v)) & U64 if code == 3 else v
                    record[offset:offset + size] = (value & (1 << 8 * size) - 1).to_bytes(
                        size, "little")
        for e in events if tail == 1 else []:
            start = fixed if len(e["record"]) >= fixed else 8
            e["record"][start:] = c.take(len(e["record"]) - start)
        for e in events:
            _, task, _, _, flags, preempt, _ = e["tuple"]
            tid = self.tasks[task][0] if task else 0
            e["record"][:8] = struct.pack("<HBBI", t["id"], flags, preempt, tid)

    def stack(self, number):
        """The frames of the stack, as (frame, exact, guessed), and its end."""
        node, frames, end, exact, guessed = self.stacks[number][0], [], 0, False, False
        while node:
            frame, node = self.nodes[node]
            if frame & 0xFFFFFF0000000000 != 1 << 63:
                frames.append((frame, exact, guessed))
                exact = False
                continue
            kind = frame >> 32 & 255
            end = frame & 0xFFFFFFFF if kind == 2 and not node else end
            exact |= kind == 3
            guessed |= kind == 4
        return frames, end


def another_name(names, name):
    path, host = name
    for i, n in enumerate(names):
        if n[0] == path and (not host or n[1] == host):
            return names
        if host and not n[1] and n[0] in (b"", path):
            return names[:i] + [name] + names[i + 1:]
    return names + [name] if path or not names else names


def fnv(h, data):
    for byte in data:
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return h


def command(so, *args):
    out = subprocess.run([so, *args], check=True, stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


FIELD = re.compile(r"field:([^;]*?)(\w+)(\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d);")


def compare_fields(text, record, fields):
    """Compares integers and strings by the format text; returns how many."""
    compared = 0
    for kind, name, array, offset, size, signed in FIELD.findall(text):
        offset, size, kind = int(offset), int(size), kind.strip()
        if name not in fields or offset + size > len(record):
            continue
        value, raw = fields[name], bytes(record[offset:offset + size])
        if kind == "__data_loc char[]":
            loc = int.from_bytes(raw, "little")
            raw = bytes(record[loc & 0xFFFF:(loc & 0xFFFF) + (loc >> 16)])
            kind, array = "char", "[]"
        if kind == "char" and array and raw.isascii():
            assert value == raw.split(b"\0")[0].decode(), f"{name}: {raw} is not {value}"
        elif isinstance(value, int) and not isinstance(value, bool) and not array:
            got = int.from_bytes(raw, "little", signed=signed == "1")
            assert got == value, f"{name}: {got} is not {value}"
        else:
            continue
        compared += 1
    return compared


ENDS = ["complete", "truncated", "at_limit", "failed", "no_table", "unreadable", "fallback"]


def compare_stack(rec, number, want):
    frames, end = rec.stack(number)
    assert len(frames) == len(want["frames"]) and ENDS[end] == want["end"], f"stack {number}"
    named = 0
    for (frame, exact, guessed), w in zip(frames, want["frames"]):
        file, ip = (frame >> 40, frame & (1 << 40) - 1) if not frame >> 63 else (0, frame)
        assert ip == int(w["ip"], 16) and file == (w.get("file") or 0), f"stack {number}: {w}"
        assert guessed == w.get("guessed", False), f"stack {number}: {w}"
        if file not in rec.user_symbols:
            continue
        symbol = rec.user_symbol(file, ip if exact else ip - 1)
        assert (w["sym"] is None) == (symbol is None), f"stack {number}: {w} is {symbol}"
        if symbol:
            assert w["off"] == ip - symbol[0], f"stack {number}: {w} is {symbol}"
            assert symbol[1].startswith("_") or w["sym"] == symbol[1], f"{w} is {symbol}"
            named += 1
    return named


def compare_file(rec, w):
    f = rec.files[w["file"]]
    assert int(w["hash"], 16) == f["hash"], f"{w['hash']} is not {f['hash']:x}"
    assert w["kind"] == ["file", "vdso", "jit"][f["kind"]]
    names = [(n["path"].encode(), (n["host_path"] or "").encode()) for n in w["names"]]
    assert names == f["names"] and w["path"].encode() == names[0][0]
    kind, got = f["id"]
    assert (w["build_id"] or "") == (got.hex() if kind == 1 else "")
    assert w.get("sha256", "") == (got.hex() if kind == 2 else "")
    assert w["symbols"] == (w["file"] in rec.user_symbols)
    assert w.get("deleted", False) == bool(f["flags"] & 1)
    assert w.get("gone", False) == bool(f["flags"] & 2)
    if f["kind"] == 0:
        assert w["dev"] == "%02x:%02x" % f["dev"]
        assert (w["inode"], w["size"], w["mtime_ns"]) == (f["inode"], f["size"], f["mtime"])
    if f["kind"] == 2:
        assert (w["pid"], int(w["base"], 16)) == (f["pid"], f["base"])


def compare(so, path):
    with open(path, "rb") as f:
        rec = Recording(f.read())
    want = command(so, "script", "--json", path)
    assert len(want) == len(rec.events), f"{len(rec.events)} events, script has {len(want)}"
    rec.events.sort(key=lambda e: e["ts"])

    def key(e):
        return (e["ts"], e["cpu"], e["event"], e["tid"], e["kstack"] or 0)

    fields = 0
    got = []
    for e in rec.events:
        event, task, kstack = e["tuple"][:3]
        imported = rec.stacks[kstack][1] if kstack else None
        got.append({"ts": e["ts"], "cpu": e["cpu"], "event": rec.types[event]["name"].decode(),
                    "tid": rec.tasks[task][0] if task else 0,
                    "kstack": imported[0] if imported else kstack, "record": e["record"],
                    "format": rec.types[event]["format"].decode()})
    for g, w in zip(sorted(got, key=key), sorted(want, key=key)):
        assert key(g) == key(w), f"{key(g)} is not {key(w)}"
        if g["record"] is not None:
            fields += compare_fields(g["format"], g["record"], w["fields"])
    stacks = {}
    for number, (_, imported) in rec.stacks.items():
        stacks[imported[0] if imported else number] = number
    named = sum(compare_stack(rec, stacks[s["id"]], s)
                for s in command(so, "stacks", "--json", path))
    for w in command(so, "files", "--json", path) if rec.files else []:
        if w["file"]:  # frames of unknown files have a line, too
            compare_file(rec, w)
    info = command(so, "info", "--json", path)[0]
    assert (info["ended"] == "clean") == rec.clean
    for meta_key, value in rec.meta.items():
        assert info["meta"][meta_key.decode()] == value.decode(), meta_key
    assert info["accounted"] == bool(rec.counters) or not want
    for index, e in enumerate(info["events"] if rec.counters else []):
        assert e["recorded"] == rec.counters[index][1] and e["happened"] == rec.counters[index][0]
    print(f"{path}: {len(got)} events, {fields} fields, {len(stacks)} stacks, "
          f"{len(rec.symbols)} symbols, {len(rec.files)} files, "
          f"{named} user frames with names; blocks {dict(sorted(rec.blocks.items()))}, "
          f"codings {sorted(rec.codings)}")


for argument in sys.argv[2:]:
    compare(sys.argv[1], argument)
if len(sys.argv) < 3:
    sys.exit("usage: stk_format.py STACKONCE RECORDING...")
