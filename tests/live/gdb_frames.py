# SPDX-License-Identifier: GPL-2.0-only
# For gdb: stops processes now and then and writes the stacks that gdb finds of their threads.
#   FRAMES_OUT   file to write: "TID TIME REASON FRAME..." for each thread and stop; TIME is when
#                all threads had stopped, in ns of the monotonic clock; REASON is why gdb's stack
#                ends; a FRAME is PATH+0xOFFSET of the file, or jit+0xADDRESS
#   FRAMES_PIDS  "PID:TIMES ...": the processes to stop, and how often
import os
import signal
import time

import gdb

MAX_FRAMES = 127


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            words = line.rstrip("\n").split(None, 5)
            start, end = (int(w, 16) for w in words[0].split("-"))
            found.append((start, end, int(words[2], 16), words[5] if len(words) > 5 else ""))
    return found


def place(maps, pc):
    for start, end, offset, path in maps:
        if start <= pc < end:
            if path == "[vdso]" or path.startswith("/"):
                return f"{path}+0x{pc - start + offset:x}"
            break
    return f"jit+0x{pc:x}"


def stopped(pid):
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] not in "Tt":
                return False
    return True


def frames_of(maps):
    frames = []
    frame = gdb.newest_frame()
    while True:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append(place(maps, frame.pc()))
        older = frame.older()
        if older is None or len(frames) == MAX_FRAMES:
            return frames, frame.unwind_stop_reason()
        frame = older


def look(pid, out):
    os.kill(pid, signal.SIGSTOP)
    for _ in range(500):
        if stopped(pid):
            break
        time.sleep(0.01)
    time.sleep(0.02)
    when = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    gdb.execute(f"attach {pid}", to_string=True)
    maps = mappings(pid)
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        try:
            frames, reason = frames_of(maps)
        except gdb.error:
            continue
        print(thread.ptid[1], when, reason, *frames, file=out)
    gdb.execute("detach", to_string=True)
    os.kill(pid, signal.SIGCONT)
    time.sleep(0.1)


for setting in ("pagination off", "debuginfod enabled off", "backtrace past-main on",
                "backtrace limit 200", "confirm off", "print thread-events off"):
    gdb.execute("set " + setting)
with open(os.environ["FRAMES_OUT"], "w") as out:
    targets = [[int(n) for n in t.split(":")] for t in os.environ["FRAMES_PIDS"].split()]
    for stop in range(max(times for _, times in targets)):
        for pid, times in targets:
            if stop < times and os.path.isdir(f"/proc/{pid}/task"):
                look(pid, out)
