# SPDX-License-Identifier: GPL-2.0-only
"""Reads the data of a page of `stackonce view`, as src/view/data.h describes them."""
import base64
import json
import re
import zlib


def element(page, name):
    """The text of one of the elements that hold data."""
    found = re.findall(f'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    assert len(found) == 1, f"{len(found)} elements {name}"
    return base64.b64decode(found[0], validate=True)


def column(data, rows, is_delta):
    numbers = []
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            if is_delta:
                value = (value >> 1 ^ -(value & 1)) + (numbers[-1] if numbers else 0)
            numbers.append(value)
            value = shift = 0
    assert shift == 0 and len(numbers) == rows
    assert all(0 <= n < 2**53 for n in numbers)
    return numbers


def load(page):
    """The head, and the tables by name, each a dictionary of columns."""
    data = zlib.decompress(element(page, "data"))
    at = 4 + int.from_bytes(data[:4], "little")
    head = json.loads(data[4:at])
    tables = {}
    for name, table in head["tables"].items():
        tables[name] = {}
        for c in table["columns"]:
            bytes_ = data[at:at + c["bytes"]]
            at += c["bytes"]
            tables[name][c["name"]] = column(bytes_, table["rows"], c["coding"] == "delta")
    assert at == len(data)
    return head, tables


def rows(table):
    """The rows of a table as dictionaries."""
    return [dict(zip(table, numbers)) for numbers in zip(*table.values())]


def stacks(head, tables):
    """By number of a stack its frames, outermost first: (name, kind, file)."""
    strings = head["strings"]
    frames = [(strings[f["name"]], f["kind"], strings[f["file"]]) for f in rows(tables["frames"])]
    all_ = [()]
    for node in rows(tables["nodes"]):
        assert node["parent"] < len(all_), "a node comes before its parent"
        all_.append(all_[node["parent"]] + (frames[node["frame"]],))
    return all_
