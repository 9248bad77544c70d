#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""compare_nm.py SYMBOLS_AT COUNT FILE...: compares functions at offsets of files with nm, objdump
and addr2line.

A name is right if nm has it for the innermost function around the address.  If several names are
for the same code, any of them is right; elf_symbols.c tests which one is chosen.  If nm has no
function with a size, the label before it, the name of a stub in objdump, or no name is right; so is
the name of the table's section where objdump knows no symbol for the stub.
Versions (name@VERSION) are not part of a name.  A file with an installed debug file is also
compared with it.
"""
import bisect
import collections
import os
import random
import re
import subprocess
import sys


def run(*args, text=None):
    out = subprocess.run(args, input=text, capture_output=True, text=True, check=False,
                         errors='surrogateescape')
    return out.stdout


class Oracle:
    def __init__(self, path, debug):
        self.path = path
        self.segments = []
        for line in run('readelf', '-lW', path).splitlines():
            words = line.split()
            if words and words[0] == 'LOAD':
                off, addr, size = int(words[1], 16), int(words[2], 16), int(words[4], 16)
                if 'E' in ''.join(words[6:-1]):
                    self.segments.append((addr, off, size))
        self.sized = []             # (start, end, name)
        self.labels = []            # (start, name)
        # Some files have a .symtab that lacks most of what .dynsym has.
        for line in run('nm', '-f', 'sysv', '--defined-only', debug or path).splitlines() + \
                run('nm', '-D', '-f', 'sysv', '--defined-only', path).splitlines():
            words = [word.strip() for word in line.split('|')]
            if len(words) != 7 or words[2] not in 'tTwWiu' or \
                    words[3] not in ('FUNC', 'NOTYPE', '<OS specific>: 10'):   # an ifunc
                continue
            name, start = words[0].split('@')[0], int(words[1], 16)
            if words[4] and int(words[4], 16):
                self.sized.append((start, start + int(words[4], 16), name))
            else:
                self.labels.append((start, name))
        self.sized = [s for s in self.sized if self.offset(s[0]) is not None]
        self.sized.sort()
        self.starts = [s[0] for s in self.sized]
        self.labels.sort()
        self.stubs = dict()
        for line in run('objdump', '-d', '-j', '.plt', '-j', '.plt.sec', '-j', '.plt.got',
                        path).splitlines():
            m = re.match(r'([0-9a-f]+) <(.*@plt)>:', line)
            if m:
                self.stubs[int(m.group(1), 16)] = re.sub('@.*@plt', '@plt', m.group(2))
        self.sections = run('readelf', '-SW', path)
        self.tables = {m.group(1): (int(m.group(2), 16), int(m.group(3), 16)) for m in re.finditer(
            r' (\.plt\S*) +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) ', self.sections)}
        self.longest = max((e - s for s, e, _ in self.sized), default=0)

    def has(self, section):
        return ' %s ' % section in self.sections

    def offset(self, addr):
        for start, off, size in self.segments:
            if start <= addr < start + size:
                return addr - start + off
        return None

    def names(self, addr):
        """The names of the innermost function around the address; empty if there is none."""
        i = bisect.bisect_right(self.starts, addr) - 1
        best, names = None, set()
        while i >= 0 and self.starts[i] >= addr - self.longest:
            start, end, name = self.sized[i]
            if addr < end:
                if best is None:
                    best = (start, end)
                if best[0] == start:
                    names.add((end, name))
                elif start < best[0]:
                    break
            i -= 1
        if not names:
            return set()
        shortest = min(end for end, _ in names)
        return {name for end, name in names if end == shortest}

    def sample(self, count):
        addrs = set()
        for start, end, _ in random.sample(self.sized, min(len(self.sized), count // 5 + 1)):
            addrs |= {start, end - 1, end, random.randrange(start, end)}
        for start, off, size in self.segments:
            addrs |= {start + random.randrange(size) for _ in range(count // 5)}
        for stub in list(self.stubs)[:count // 10] + [a for a, _ in self.tables.values()]:
            addrs |= {stub, stub + 7}
        return [a for a in addrs if self.offset(a) is not None]


def debug_file(path):
    m = re.search(r'Build ID: ([0-9a-f]+)', run('readelf', '-nW', path))
    debug = '/usr/lib/debug/.build-id/%s/%s.debug' % (m.group(1)[:2], m.group(1)[2:]) if m else ''
    return debug if os.path.exists(debug) else None


def check(tool, path, debug, count, seen, wrong, differs):
    oracle = Oracle(path, debug)
    addrs = oracle.sample(count)
    if not addrs or not oracle.sized:
        return 0
    text = ''.join('%x\n' % oracle.offset(a) for a in addrs)
    answers = run(tool, path, *[debug] if debug else [], text=text).splitlines()
    # With DWARF, addr2line names inlined functions.
    names2 = [] if debug_file(path) or oracle.has('.debug_info') else \
        run('addr2line', '-fe', path, *[hex(a) for a in addrs[:1000]]).splitlines()[::2]
    if len(answers) != len(addrs):
        wrong.append((path, 0, 'no answers', ''))
        return 0
    for i, (addr, answer) in enumerate(zip(addrs, answers)):
        name = answer.split(' ', 3)[3] if not answer.endswith(' -') else None
        right = oracle.names(addr)
        if right:
            kind = 'function' if name in right else 'WRONG'
            if i < len(names2) and kind == 'function':
                other = names2[i].split('@')[0]
                seen['addr2line ' + ('agrees' if other in right else 'knows none'
                                     if other == '??' else 'disagrees')] += 1
                if other not in right and other != '??':
                    differs.append((path, hex(addr), name, other))
        elif name is None:
            kind = 'WRONG' if any(a <= addr < a + size for a, size in oracle.tables.values()) \
                else 'nothing'
        elif oracle.has('.gopclntab'):
            kind = 'of Go\'s own table'
        elif name.endswith('@plt'):
            stub = max((a for a in oracle.stubs if a <= addr), default=None)
            expected = oracle.stubs.get(stub)
            kind = 'stub' if expected == name else 'stub that objdump does not name' \
                if addr - (stub or 0) >= 16 else 'WRONG'
        elif name in oracle.tables:
            stub = max((a for a in oracle.stubs if a <= addr), default=0)
            start, size = oracle.tables[name]
            kind = 'table' if start <= addr < start + size and (
                addr - stub >= 16 or oracle.stubs[stub].startswith('*ABS*')) else 'WRONG'
        else:
            i = bisect.bisect_right(oracle.labels, (addr, '\x7f' * 99)) - 1
            kind = 'label' if any(n == name and a <= addr for a, n in oracle.labels) else 'WRONG'
        seen[kind] += 1
        if kind == 'WRONG':
            wrong.append((path, hex(addr), name, right))
    return len(addrs)


def main():
    tool, count, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    seen, wrong, differs, total = collections.Counter(), [], [], 0
    random.seed(1)
    for path in files:
        for debug in {None, debug_file(path)}:
            total += check(tool, path, debug, count, seen, wrong, differs)
    print(total, 'offsets in', len(files), 'files:', dict(seen))
    for w in wrong[:20]:
        print('wrong:', *w)
    for w in differs[:20]:
        print('addr2line differs:', *w)
    sys.exit(1 if wrong or total < 10000 else 0)


main()
