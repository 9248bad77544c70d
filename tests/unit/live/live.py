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
        self.read()
        if self.process.poll() is None:
            self.process.kill()
        if self.process.wait() != code:
            fail(f"{what}: exit {self.process.returncode}: {self.plain()[-900:]!r}")


def grow(path, data, start, end):
    with open(path, "ab" if start else "wb") as f:
        f.write(data[start:end])


def recording(kind, *args):
    subprocess.run([make, kind, "whole.stk", *args], check=True)
    with open("whole.stk", "rb") as f:
        return f.read()


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

    # nothing of a hostile recording reaches the terminal
    recording("hostile")
    s = Screen(["report", "--follow", "whole.stk"])
    s.end("hostile", 0)
    for bad in ("\x07", "\x1b]", "\x1b[31m<"):
        if bad in s.text:
            fail(f"hostile: {bad!r} in {s.text!r}")


with tempfile.TemporaryDirectory() as where:
    os.chdir(where)
    main()
print(failed, "failed")
sys.exit(failed != 0)
