#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
# stack_key.py STACKONCE DOCUMENT FILE...: computes the keys of all stacks of the recordings by
# docs/stack-key.md and compares them with those of stackonce; checks the vectors in the document.
# --vectors STACKONCE FILE... prints such vectors.
import hashlib
import json
import re
import struct
import subprocess
import sys


def rows(stackonce, path, query):
    out = subprocess.run([stackonce, "sql", "--json", "--no-symbols", "--no-demangle", path, query],
                         check=True, capture_output=True, text=True).stdout
    return [json.loads(line)["values"] for line in out.splitlines()]


def metadata(stackonce, path):
    out = subprocess.run([stackonce, "info", "--json", path], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out.splitlines()[0])["meta"]


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value % 2**64)


def string(value):
    data = value.encode("utf-8") if isinstance(value, str) else value
    return u32(len(data)) + data


def digest(message):
    return hashlib.sha256(message).digest()[:16]


def number(value):
    return int(value, 0) if isinstance(value, str) else value


class Recording:
    ends = ["complete", "truncated", "at_limit", "failed", "no_table", "unreadable", "fallback",
            "not_recorded"]

    def __init__(self, stackonce, path):
        self.stackonce, self.path = stackonce, path
        meta = metadata(stackonce, path)
        self.build_id = bytes.fromhex(meta.get("kernel.build_id", ""))
        self.text = int(meta.get("kernel.text", "0"), 0)
        self.boot_id = meta.get("boot_id", "")
        self.files = {f["id"]: f for f in rows(stackonce, path, "SELECT * FROM files")}

    def kernel(self, f):
        ip = number(f["ip"])
        if f["sym"] is None:
            return b"\x03" + string(self.boot_id) + u64(ip)
        if f["mod"] is None and self.build_id and self.text and \
                0 <= ip - self.text < 1 << 30:
            return b"\x01" + string(self.build_id) + u64(ip - self.text)
        return (b"\x02" + string(self.build_id or self.boot_id) + string(f["mod"] or "") +
                string(f["sym"]) + u64(f["off"]))

    def user(self, f):
        file = self.files.get(f["file"])
        if not file:
            return b"\x07"
        if file["kind"] == "jit":
            return b"\x06" + string(f["sym"] or "")
        offset = u64(number(f["ip"]))
        if file["build_id"]:
            return b"\x04\x01" + string(bytes.fromhex(file["build_id"])) + offset
        if file["sha256"]:
            return b"\x04\x02" + string(bytes.fromhex(file["sha256"])) + offset
        major, minor = (int(x, 16) for x in (file["dev"] or "0:0").split(":"))
        return (b"\x05" + string(self.boot_id) + string(file["path"]) + u32(major) + u32(minor) +
                u64(file["inode"] or 0) + u64(file["size"] or 0) + u64(file["mtime_ns"] or 0) +
                offset)

    def frame(self, f):
        flags = bool(f["exact"]) + 2 * bool(f["guessed"])
        rest = {"kernel": self.kernel, "user": self.user}.get(f["kind"], lambda f: b"\x07")(f)
        return b"F\x01" + bytes([flags]) + rest

    def stacks(self):
        frames = {}
        for f in rows(self.stackonce, self.path, "SELECT * FROM frames ORDER BY stack, nr"):
            frames.setdefault(f["stack"], []).append(self.frame(f))
        for s in rows(self.stackonce, self.path,
                      "SELECT id, ends, stack_key(id) AS key FROM stacks ORDER BY id"):
            own = frames.get(s["id"], [])
            message = b"S\x01" + bytes([self.ends.index(s["ends"])]) + u32(len(own))
            yield s, own, message + b"".join(map(digest, own))


def print_vectors(stackonce, paths):
    seen = set()
    for path in paths:
        for _, frames, message in Recording(stackonce, path).stacks():
            for data in frames:
                if data[2:4] not in seen and data[2] < 2:
                    seen.add(data[2:4])
                    print(f"| {data.hex()} | {digest(data).hex()} |")
            if len(frames) == 2 and "stack" not in seen:
                seen.add("stack")
                print(f"| {message.hex()} | {digest(message).hex()} |")


def main(stackonce, document, paths):
    failed = compared = 0
    for path in paths:
        for s, _, message in Recording(stackonce, path).stacks():
            compared += 1
            if digest(message).hex() != s["key"]:
                print(f"FAILED: {path}: stack {s['id']}: {digest(message).hex()}, not {s['key']}")
                failed += 1
    with open(document, encoding="utf-8") as text:
        vectors = re.findall(r"^\| ([0-9a-f]{8,}) \| ([0-9a-f]{32}) \|$", text.read(), re.M)
    for data, key in vectors:
        if digest(bytes.fromhex(data)).hex() != key:
            print(f"FAILED: the key of {data} is not {key}")
            failed += 1
    kinds = {data[6:8] for data, _ in vectors if data.startswith("46")}
    if kinds != {f"{kind:02x}" for kind in range(1, 8)} or \
            not any(data.startswith("53") for data, _ in vectors):
        print(f"FAILED: vectors of frames have the kinds {sorted(kinds)}")
        failed += 1
    print(f"{compared} stacks, {len(vectors)} vectors")
    return failed or not compared


if sys.argv[1] == "--vectors":
    print_vectors(sys.argv[2], sys.argv[3:])
else:
    sys.exit(bool(main(sys.argv[1], sys.argv[2], sys.argv[3:])))
