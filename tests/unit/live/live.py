# SPDX-License-Identifier: GPL-2.0-only
"""report --follow of a recording that grows, on a terminal and without one.

live.py STACKONCE MAKE_RECORDING
"""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

so, make = map(os.path.realpath, sys.argv[1:])
failed = 0
WAIT = 20  # seconds until what is expected must have appeared


def fail(what):
    global failed
    failed += 1
    print("FAILED:", what)


class Screen:
    """A command on a terminal of 80 columns and 24 lines."""

    def __init__(self, args, term="xterm"):
        self.text = ""
        self.master, slave = pty.openpty()
        self.process = None
        self.size(24, 80)
        env = {**os.environ, "TERM": term, "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen([so, *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=env, start_new_session=True)
        os.close(slave)
        os.set_blocking(self.master, False)

    def size(self, lines, columns):
        self.text = ""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        if self.process:
            self.process.send_signal(signal.SIGWINCH)

    def read(self):
        try:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def expect(self, what, pattern):
        """Waits for the pattern in what has been written since the last key."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            more = self.read()
            if re.search(pattern, self.plain(), re.DOTALL):
                return
            if not more:
                break
            time.sleep(0.05)
        fail(f"{what}: no '{pattern}' in {self.plain()[-900:]!r}")

    def plain(self):
        return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][A-Z0-9]|[=>78])", " ", self.text)

    def press(self, key):
        self.read()
        self.text = ""
        os.write(self.master, key.encode())

    def end(self, what, code):
        end = time.monotonic() + WAIT
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
            time.sleep(0.05)
        if self.process.poll() is None:
            self.process.kill()
        # what it wrote last; a read returns one buffer of the terminal
        while self.read() and time.monotonic() < end:
            pass
        if self.process.wait() != code:
            fail(f"{what}: exit {self.process.returncode}: {self.plain()[-900:]!r}")


def grow(path, data, start, end):
    with open(path, "ab" if start else "wb") as f:
        f.write(data[start:end])


def recording(kind, *args):
    subprocess.run([make, kind, "whole.stk", *args], check=True)
    with open("whole.stk", "rb") as f:
        return f.read()


# the lock of a recorder, as in src/include/live.h
F_OFD_SETLK = 37
LOCK = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 2**63 - 2, 1, 0)
RMAP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../golden/rmap.stk")
CPU_PAIRS = ["--start", "sched_switch", "--end", "sched_switch", "--match", "cpu", "--single",
             "--by", "comm"]


def totals(view):
    """Group -> count, sum, p50, p99 and max of a view of pairs without a terminal."""
    rows = {}
    for line in view.rstrip().rsplit("\n\n", 1)[-1].splitlines()[3:]:
        count, _, *times, name = re.split(r" {2,}|(?<=[a-z]) (?= *\d)", line.strip(), maxsplit=6)
        rows[name] = [count, *times]
    return rows


def answers(text):
    """The same of the table of latency."""
    rows = {}
    for line in text.splitlines()[1:]:
        if line.startswith("All percentiles"):
            break
        v = re.split(r" {2,}", line.strip())
        rows[v[-1]] = [v[0], v[1], v[4], v[6], v[8]]
    return rows


def same_as_latency(*args):
    """The totals of the view of pairs are those of latency."""
    def run(*command):
        return subprocess.run([so, *command, *args], check=True, text=True, stdout=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL).stdout
    view = totals(run("report", "--follow", "--top", "0"))
    wanted = answers(run("latency"))
    if not wanted or view != wanted:
        fail(f"latency {args}: {wanted}, the view has {view}")


def pairs(data, some):
    # the keys
    grow("grows.stk", data, 0, some)
    s = Screen(["report", "--follow", *CPU_PAIRS, "grows.stk"])
    s.expect("pairs", r"64 groups of sched_switch to sched_switch")
    s.expect("order", r"count +rate/s +sum\*")
    s.expect("keys", r"k functions, stacks or pairs  o order")
    s.press("o")
    s.expect("order", r"count\* +rate/s +sum ")
    s.press("k")
    s.expect("functions", r"functions of all events, since the start")
    s.press("k")
    s.expect("stacks", r"40 stacks of all events, since the start")
    s.press("k")
    s.expect("pairs", r"64 groups of sched_switch to sched_switch")
    # the interval with the new pairs, then one without any
    grow("grows.stk", data, some, len(data) - 100)
    s.expect("interval", r"now: the last .*all +[1-9].*now +[1-9][\d,]* +[1-9].*comm=")
    s.text = ""
    s.expect("no pairs", r"now +0 +0 +- +- +- +- +")
    s.press("z")
    s.expect("zero", r"0 groups of sched_switch to sched_switch, since z was pressed")
    s.press("q")
    s.end("q", 0)

    # without a terminal; the last text has the totals
    grow("grows.stk", data, 0, some)
    with open("out", "wb") as out:
        p = subprocess.Popen([so, "report", "--follow", "--top", "2", *CPU_PAIRS, "grows.stk"],
                             stdin=subprocess.DEVNULL, stdout=out)
    end = time.monotonic() + WAIT
    while not os.path.getsize("out") and time.monotonic() < end:
        time.sleep(0.05)
    grow("grows.stk", data, some, len(data))
    if p.wait(WAIT):
        fail(f"pairs without a terminal: exit {p.returncode}")
    with open("out", encoding="utf-8") as f:
        first, *_, last = f.read().split("\n\n")
    if not re.search(r"now: the last .*\n.*\nall .*comm=task-\d+\nnow .*\nall .*\nnow .*$", first):
        fail(f"pairs without a terminal: {first!r}")
    if "now" in last or len(last.splitlines()) != 5:
        fail(f"the last pairs without a terminal: {last!r}")

    # one answer
    same_as_latency(*CPU_PAIRS, "whole.stk")
    recording("latency")
    same_as_latency("--preset", "syscalls", "whole.stk")
    same_as_latency("--preset", "syscalls", "--by", "comm", "--comm", "bash", "whole.stk")
    same_as_latency("--preset", "syscalls", "--time", "1.001,1.003", "-e", "sys_enter", "whole.stk")
    same_as_latency("--preset", "softirq", "whole.stk")
    # of a version without losses by their time
    same_as_latency("--preset", "rmap", "--by", "page_type", RMAP)

    # a recording in progress that will never have such pairs
    recording("latency")
    os.truncate("whole.stk", os.path.getsize("whole.stk") * 2 // 3)
    with open("whole.stk", "r+b") as f:
        fcntl.fcntl(f, F_OFD_SETLK, LOCK)
        s = Screen(["report", "--follow", "--preset", "irq", "whole.stk"])
        s.end("no events of the pairs", 1)
    s.expect("no events of the pairs", r"lacks the events irq:irq_handler_entry")


def main():
    data = recording("large", "600000", "40")
    some = len(data) // 2

    # the keys, and the end of the recording
    grow("grows.stk", data, 0, some)
    s = Screen(["report", "--follow", "grows.stk"])
    s.expect("stacks", r"40 stacks of all events, since the start")
    s.expect("stacks", r"kernel_function_\d+ < kernel_function_\d+")
    s.expect("keys", r"k functions or stacks  e event")
    s.press("k")
    s.expect("functions", r"functions of all events, since the start")
    s.expect("functions", r"%  kernel_function_\d+")
    s.press("o")
    s.expect("order", r"all\*")
    s.press("e")
    s.expect("event", r"functions of sched:sched_switch, since the start")
    s.press("z")
    s.expect("zero", r"0 functions of sched:sched_switch, since z was pressed")
    grow("grows.stk", data, some, len(data))
    s.expect("events after zero", r"[1-9]\d* functions of sched:sched_switch, since z")
    s.end("the end of the recording", 0)
    s.expect("the last view", r"\r\n *\d[\d,]* +\d+\.\d\d%")

    # another size
    grow("grows.stk", data, 0, some)
    s = Screen(["report", "--follow", "grows.stk"])
    s.expect("80 columns", r"40 stacks of all events.*z set to zero  q quit")
    s.size(8, 30)
    s.expect("30 columns", r"40 stacks of all events, since")
    s.read()
    s.text = ""
    s.expect("30 columns", r"40 stacks of all events, since .*k functions or stacks")
    if "set to zero" in s.plain() or s.plain().count("kernel_function") > 3 * 12:
        fail(f"30 columns, 8 lines: {s.plain()!r}")
    s.press("q")
    s.end("another size", 0)

    # q
    grow("grows.stk", data, 0, some)
    s = Screen(["report", "--follow", "grows.stk"])
    s.expect("stacks", r"stacks of all events, since the start")
    s.press("q")
    s.end("q", 0)

    # a message about what was read is not lost with the page
    damaged = bytearray(data)
    damaged[len(data) // 3] ^= 0xff
    grow("damaged.stk", damaged, 0, len(damaged))
    s = Screen(["report", "--follow", "damaged.stk"])
    s.end("damage", 1)
    if not re.search(r"stackonce: 'damaged\.stk'.*damaged", s.text.split("\x1b[?1049l")[-1]):
        fail(f"damage: no message after the page: {s.text[-900:]!r}")
    if "skipped bad block" not in s.text.split("\x1b[?1049l")[-1]:
        fail(f"damage: no warning after the page: {s.text[-900:]!r}")

    # a dumb terminal, and none
    grow("grows.stk", data, 0, some)
    s = Screen(["report", "--follow", "grows.stk"], term="dumb")
    s.expect("a dumb terminal", r"stacks of all events, since the start")
    if "\x1b" in s.text:
        fail(f"escape sequences on a dumb terminal: {s.text!r}")
    grow("grows.stk", data, some, len(data))
    s.end("a dumb terminal", 0)
    s.expect("a dumb terminal", r"600,000 events in")
    whole = subprocess.run([so, "report", "--follow", "whole.stk"], check=True, text=True,
                           stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
    if not whole.startswith("600,000 events in ") or "\n\n" in whole:
        fail(f"without a terminal: {whole!r}")

    pairs(data, some)

    # nothing of a hostile recording reaches the terminal
    recording("hostile")
    s = Screen(["report", "--follow", "whole.stk"])
    s.end("hostile", 0)
    hostile = s.text
    s = Screen(["report", "--follow", "--start", "sched*", "--end", "sched*", "--match", "cpu",
                "--by", "event,comm", "whole.stk"])
    s.end("pairs of a hostile recording", 0)
    s.text += hostile
    for bad in ("\x07", "\x1b]", "\x1b[31m<"):
        if bad in s.text:
            fail(f"hostile: {bad!r} in {s.text!r}")


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    main()
print(failed, "failed")
sys.exit(failed != 0)
