# SPDX-License-Identifier: GPL-2.0-only
"""The parts of what `go tool pprof -raw` prints of a profile."""
import re


class Raw:
    def __init__(self, text):
        lines = text.splitlines()
        starts = [lines.index(word) for word in ("Samples:", "Locations", "Mappings")]
        self.head = lines[: starts[0]]
        self.types = lines[starts[0] + 1].split()
        self.samples = []
        for line in lines[starts[0] + 2 : starts[1]]:
            found = re.match(r" *((?:-?\d+ +)*-?\d+): ((?:\d+ )*)$", line)
            if found:
                values = [int(v) for v in found[1].split()]
                self.samples.append((values, found[2].split(), {}))
            else:
                for key, value in re.findall(r"(\S+):\[(.*?)\](?= \S+:\[|\s*$)", line):
                    self.samples[-1][2][key] = value
        self.locations = lines[starts[1] + 1 : starts[2]]
        self.mappings = lines[starts[2] + 1 :]

    def comments(self):
        return [line[9:] for line in self.head if line.startswith("Comment: ")]

    def total(self, which=0):
        return sum(values[which] for values, _, _ in self.samples)

    def lost(self):
        return sum(int(c.split()[1]) for c in self.comments() if c.startswith("lost: "))

    def functions(self):
        """The function of each location, "" if it has none."""
        found = (re.match(r" *(\d+): 0x\w+ (?:M=\d+ )?(?:(.*) \S*:\d+(?::\d+)? s=\d+)?", line)
                 for line in self.locations)
        return {m[1]: m[2] or "" for m in found if m}
