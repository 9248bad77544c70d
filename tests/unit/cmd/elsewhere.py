# SPDX-License-Identifier: GPL-2.0-only
"""On a machine that has none of its files, exports and views of a recording are those of
--no-symbols on this one; those of a recording with names are the same everywhere.
elsewhere.py STACKONCE COMMAND_THERE ROOT_THERE FILE...
"""
import json
import os
import re
import subprocess
import sys

from checks import check, end

SO, THERE, ROOT = sys.argv[1], sys.argv[2].split(), sys.argv[3]
VIEWS = ["script --stacks", "script --json --stacks", "report", "report --tree",
         "report --flat --top 0", "report --json --by event,comm", "stacks", "stacks --json",
         "latency --preset syscalls --stacks", "lifecycle", "futex", "offcpu", "view -o -"]
NAMELESS = ["info", "info --json", "files", "files --json"]  # do not look up names


def run(command, *args):
    return subprocess.run([*command, *args], capture_output=True, stdin=subprocess.DEVNULL,
                          check=False)


def formats():
    usage = run([SO], "export", "--help").stdout.decode()
    return re.findall(r"^  (\w\S*): ", usage.split("Formats:", 1)[1], re.M)


def trace(path):
    """The files of a CTF trace, but for its uuid."""
    files = {}
    for name in os.listdir(path):
        with open(f"{path}/{name}", "rb") as file:
            files[name] = file.read()
    uuid = re.search(rb'uuid = "([-0-9a-f]{36})"', files["metadata"])[1]
    for name, data in files.items():
        files[name] = data.replace(bytes.fromhex(uuid.decode().replace("-", "")), b"")
        files[name] = files[name].replace(uuid, b"")
    return files


def exported(command, root, form, file, *options):
    """The exit status and what is exported."""
    export = ["export", form, "-q", "--force", *options, file]
    if form == "clickhouse":
        tables = run(command, *export, "--tables").stdout.decode().splitlines()
        return [run(command, *export, *table).stdout
                for table in (["--schema"], *(["--rows", name] for name in tables))]
    done = run(command, *export, "-o", "trace" if form == "ctf" else "-")
    if form != "ctf" or done.returncode:
        return done.returncode, done.stdout
    return trace(f"{root}/trace")


def view(command, *words):
    done = run(command, *words)
    return done.returncode, done.stdout


def compare(file):
    rows = map(json.loads, run([SO], "files", "--json", file).stdout.splitlines())
    here = [row["path"] for row in rows
            if (row.get("path") or "").startswith("/") and os.path.exists(ROOT + row["path"])]
    check(f"{file}: its files are not there", [], here)
    # what it holds is known everywhere; other names may come from files of this machine
    options = [] if file == "./named.stk" else ["--no-symbols"]
    for form in formats():
        check(f"{file}: {form}", exported([SO], ".", form, file, *options),
              exported(THERE, ROOT, form, file))
    for words in VIEWS:
        check(f"{file}: {words}", view([SO], *words.split(), *options, file),
              view(THERE, *words.split(), file))
    for words in NAMELESS:
        check(f"{file}: {words}", view([SO], *words.split(), file),
              view(THERE, *words.split(), file))


for recording in sys.argv[4:]:
    compare(recording)
report = [run(command, "report", "--folded", "./prog.stk").stdout for command in ([SO], THERE)]
check("names come from the file here, and from nowhere there", [True, False],
      [b";main" in text for text in report])
check("names in the recording", True,
      b";main" in run(THERE, "report", "--folded", "./named.stk").stdout)
end()
