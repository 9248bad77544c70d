# SPDX-License-Identifier: GPL-2.0-only
# For gdb: stops processes now and then and writes the stacks that gdb finds of their threads.
#   FRAMES_OUT   file to write, which exists if nothing failed, because gdb may ignore errors here:
#                lines "TID TIME REASON FRAME..." for each thread and stop; TIME is when all
#                threads had stopped, in ns of the monotonic clock; REASON is why gdb's stack ends; a
#                FRAME is PATH+0xOFFSET of the file, or jit+0xADDRESS
#   FRAMES_PIDS  "PID:TIMES ...": the processes to stop, and how often; one that ends has no more
#                lines
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
            found.append((start, end, int(words[2], 16), words[5] if len(words) > 5 else "",
                          "x" in words[1]))
    return found


def place(maps, pc):
    for start, end, offset, path, _ in maps:
        if start <= pc < end:
            if path == "[vdso]" or path.startswith("/"):
                return f"{path}+0x{pc - start + offset:x}"
            break
    return f"jit+0x{pc:x}"


def is_code(maps, pc):
    return any(code and start <= pc < end for start, end, _, _, code in maps)


class Ended(Exception):
    pass


def stat_of(path):
    """The fields that follow the name: the first one is the state, the 20th the start time."""
    try:
        with open(path + "/stat") as stat:
            return stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["X"] * 20


def start_of(pid):
    return stat_of(f"/proc/{pid}")[19]


def check_runs(pid, start):
    """The process is neither a zombie nor another one with its PID."""
    if stat_of(f"/proc/{pid}")[0] in "ZX" or start_of(pid) != start:
        raise Ended


def stopped(pid, start):
    check_runs(pid, start)
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        raise Ended from None
    # a thread that has ended needs no stop
    return all(stat_of(f"/proc/{pid}/task/{tid}")[0] in "TtZX" for tid in tids)


def frames_of(maps):
    frames = []
    frame = gdb.newest_frame()
    while True:
        # the dynamic loader's first function says nowhere that nothing called it
        if not is_code(maps, frame.pc()):
            return frames, gdb.FRAME_UNWIND_MEMORY_ERROR
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append(place(maps, frame.pc()))
        older = frame.older()
        if older is None or len(frames) == MAX_FRAMES:
            return frames, frame.unwind_stop_reason()
        frame = older


def attach(pid, start):
    try:
        gdb.execute(f"attach {pid}", to_string=True)
    except gdb.error:
        check_runs(pid, start)
        raise


def look(pid, start, out):
    check_runs(pid, start)
    try:
        os.kill(pid, signal.SIGSTOP)
    except ProcessLookupError:
        raise Ended from None
    for _ in range(500):
        if stopped(pid, start):
            break
        time.sleep(0.01)
    time.sleep(0.02)
    when = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    attach(pid, start)
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
path = os.environ["FRAMES_OUT"]
with open(path + ".part", "w") as out:
    targets = [[int(n) for n in t.split(":")] for t in os.environ["FRAMES_PIDS"].split()]
    starts = {pid: start_of(pid) for pid, _ in targets}
    for stop in range(max(times for _, times in targets)):
        for pid, times in targets:
            try:
                if stop < times:
                    look(pid, starts[pid], out)
            except Ended:
                pass
os.rename(path + ".part", path)
