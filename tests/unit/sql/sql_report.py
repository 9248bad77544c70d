# SPDX-License-Identifier: GPL-2.0-only
"""The query of report --print-sql gives what report prints.

usage: sql_report.py STACKONCE RECORDING...
"""
import json
import subprocess
import sys

# Each with the keys that its records are compared by.
QUESTIONS = [
    ("event", []),
    ("comm,event", ["--time", "+0.1,"]),
    ("comm,event", ["--time", "10%,60%"]),
    ("sym,caller,file", []),
    ("caller,comm", ["--kernel"]),
    ("sym,file", ["--user"]),
    ("event", ["--filter", "task.pid > 5 && task.tid != 4300 || event ~ \"sample:*\""]),
    ("event", ["--filter", "!(cpu == 0) && task.comm != \"bash\""]),
    ("tid", ["--filter", "task.comm ~ \"*a*\" || task.comm ~ \"!*sh\""]),
    ("event", ["--filter", "sym ~ \"*s*\" && event.caller != \"schedule\""]),
    ("event", ["--filter", "!(sym == \"__schedule\") || event.file == \"[kernel]\""]),
    ("event", ["--comm", "[!s]*,b?s*"]),
    ("event", ["--filter", "cpu == 1 || cpu > 0 || comm ~ \"b*\""]),
    ("event", ["--filter", "kstack == 1 || stack_id != 2 && ustack == 0"]),
    ("event", ["--filter", "time > 1000 && time <= 1234567891123"]),
    ("event", ["-e", "sched*", "--filter", "prev_comm == \"bash\" && !(prev_prio > 119)",
               "-e", "cpu_clock"]),
    ("event,prev_comm", ["--filter", "prev_comm ~ \"b*\" || prev_prio & 0x78"]),
    ("event", ["--filter", "prev_state >= 1 || prev_pid < -1", "--filter", "task.pid == 0"]),
    ("call_site", ["--filter", "call_site > 0xffffffff81000040 && bytes_req == 64"]),
    ("event", ["--filter", "filename ~ \"*true\""]),
    ("comm", ["-e", "sys_enter,softirq*", "--filter", "id != 1 && id < 0x100"]),
    ("event", ["--weigh", "bytes_req:sum", "--filter", "ptr != 0"]),
    ("caller", ["--weigh", "prev_prio:max"]),
]

# What a query cannot say, and the words with which it is refused.
REFUSED = [
    (["--filter", "prev_comm ~ \"*sh\""], "the end of an array"),
    (["--filter", "prev_comm ~ \"b?sh\""], "pattern that has ?"),
    (["--filter", "kstack ~ \"*vfs*\""], "the names in a stack"),
    (["--filter", "host == \"a\""], "the host"),
    (["--filter", "cpu & CPUS{0}"], "sets of CPUs"),
    (["--filter", "prev_prio == 0xffffffff"], "cannot have"),
    (["--filter", "stack_id > 3"], "stack ids other than"),
    (["--filter", "comm ~ \"*1\""], "the end of an array"),
    (["--filter", "cpu & 1"], "bits of a CPU"),
    (["--comm", "a\\b"], "has neither"),
    (["--by", "host"], "one host"),
]

failed = 0


def fail(*what):
    global failed
    failed += 1
    print("FAILED:", *what)


def run(*args):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def rows(out, keys):
    """The lists as a multiset: stacks of one list with equal counts have no order."""
    got = []
    for line in out.splitlines():
        one = json.loads(line)
        one = one.get("values", one)
        stacks = [one.get("kstack", one.get("_kstack")), one.get("ustack", one.get("_ustack"))]
        value = one["weight"] if "weight" in one else one["count"]
        got.append(tuple(str(one.get(k, one.get("event." + k))) for k in keys) +
                   (str(stacks), value, one["count"]))
    return sorted(got)


def compare(so, by, options, recording):
    args = [recording, "--no-symbols", "--top", "0", "--by", by] + options
    want = run(so, "report", "--json", *args)
    query = run(so, "report", "--print-sql", *args)
    if want.returncode:
        return 0  # the recording does not have the fields
    if query.returncode:
        if want.stdout or "has no event that the query" not in query.stderr:
            fail(args, query.stderr)
        return 0
    got = run(so, "sql", "--json", "--no-symbols", recording, query.stdout)
    if got.returncode:
        fail(args, query.stdout, got.stderr)
        return 0
    keys = by.split(",")
    a, b = rows(want.stdout, keys), rows(got.stdout, keys)
    if a != b:
        fail(args, query.stdout, "\nreport: ", [x for x in a if x not in b][:5],
             "\nquery: ", [x for x in b if x not in a][:5])
    return len(a) > 0


def main():
    so, recordings = sys.argv[1], sys.argv[2:]
    for by, options in QUESTIONS:
        if not sum(compare(so, by, options, r) for r in recordings):
            fail("no recording answers", by, options)
    for options, why in REFUSED:
        got = run(so, "report", "--print-sql", *options, recordings[0])
        if got.returncode != 2 or why not in got.stderr or got.stdout:
            fail(options, got.returncode, got.stderr)
    print(f"{len(QUESTIONS)} questions, {len(recordings)} recordings, {failed} failed")
    return failed != 0


sys.exit(main())
