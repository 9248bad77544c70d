#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# export trace.dat: trace-cmd and KernelShark's library read from the file what script --json
# prints; pages, losses, late events, and what becomes of a file that cannot be written.
#   trace_dat.sh STACKONCE MAKE_RECORDING SPLIT_RECORDING CTF_RECORDING GOLDEN_DIR PYTHON
set -u
here=$(cd "$(dirname "$0")" && pwd)
so=$(realpath "$1") make=$(realpath "$2") split=$(realpath "$3") odd=$(realpath "$4")
golden=$(realpath "$5") python=$6
# shellcheck source=tests/unit/cmd/lib.sh
. "$here/../cmd/lib.sh"
export PYTHONPATH="$here/../cmd" PYTHONDONTWRITEBYTECODE=1

kinds='small long abrupt hostile aliases losses flags strings user user-hostile guesses late-types
	latency lifecycle zombies addresses annotate replaced profile'
# sched_switch without the fields of the kernel, without which KernelShark 2.2.1 crashes
kinds_odd='wakers stalls'
# shellcheck disable=SC2086 # lists of kinds
record $kinds $kinds_odd empty
cp "$golden"/*.stk .
gunzip -c "$golden/fsmb/trace.txt.gz" >trace.txt
"$so" import fsmb -q "$golden/fsmb/stack_map_bin" --trace trace.txt \
	--kallsyms "$golden/fsmb/kallsyms.txt" -o import.stk 2>err || {
	cat err
	exit 1
}
"$make" large large.stk 20000 500 && "$split" time 2 latency.stk segment &&
	"$split" hosts 2 latency.stk host && "$odd" late late.stk 10 && "$odd" fields fields.stk &&
	"$odd" cpus cpus.stk 600 && "$odd" packets packets.stk && "$odd" times times.stk || exit 1

# convert FILE ARGS...: to trace.dat; what it prints goes to err
convert()
{
	"$so" export trace.dat --force -o trace.dat "$@" 2>err
}

# ---- the file -----------------------------------------------------------------------------------

convert -q small.stk || fail "small.stk: exit $?: $(cat err)"
[ -s err ] && fail "small.stk: it prints $(cat err)"
cp trace.dat first.dat
"$so" export trace.dat -q small.stk -o - | cmp -s - first.dat || fail "standard output differs"
cat small.stk | "$so" export trace.dat -q - -o - | cmp -s - first.dat || fail "a pipe differs"
[ "$(head -c 10 trace.dat | tr -d '\0')" = "$(printf '\027\010Dtracing')" ] || fail "the magic"
"$so" export trace.dat -q small.stk -o small.stk 2>err && fail "its input was replaced"
"$so" export trace.dat -q small.stk -o nosuch/trace.dat 2>err && fail "nosuch/trace.dat"
grep -q "'nosuch/trace.dat': No such file" err || fail "nosuch/trace.dat: $(cat err)"
# The temporary file is beside the output, or in TMPDIR if there is no such place.
"$so" export trace.dat -q large.stk -o - >large.dat || fail "large.stk to standard output"
convert -q large.stk && cmp -s trace.dat large.dat || fail "large.stk to a file differs"
TMPDIR=/proc "$so" export trace.dat -q large.stk -o - >out 2>err && fail "a TMPDIR without files"
grep -q "make a temporary file in '/[a-z/]*', see TMPDIR: No such file" err ||
	fail "a TMPDIR without files: $(cat err)"
(
	trap '' XFSZ
	ulimit -f 64
	"$so" export trace.dat -q --force large.stk -o first.dat
) 2>err && fail "a file larger than the file size limit"
grep -q "write a temporary file of the export: File too large" err ||
	fail "file size limit: $(cat err)"
convert -q small.stk && cmp -s trace.dat first.dat || fail "a failed export replaced a file"
[ -z "$(find . -name '.stackonce*')" ] || fail "left $(find . -name '.stackonce*')"

# The pages: their size is in the file, as 4 bytes behind the magic, version and flags.
page_size()
{
	od -A n -t u4 -j 14 -N 4 trace.dat | tr -d ' '
}
[ "$(page_size)" -eq 4096 ] || fail "small.stk has pages of $(page_size) bytes"
convert -q packets.stk && [ "$(page_size)" -eq 65536 ] ||
	fail "packets.stk has pages of $(page_size) bytes"

# Late events keep their times, which go back.
convert late.stk || fail "late.stk"
grep -q '^stackonce: warning: times go back 9 times' err || fail "late.stk: $(cat err)"

# ---- the readers --------------------------------------------------------------------------------

command -v trace-cmd >/dev/null || {
	echo "$failed failed"
	echo "skipped: trace-cmd is missing: the files were not read"
	[ "$failed" -eq 0 ] || exit 1
	exit 77
}

# report ARGS...: what trace-cmd report prints of trace.dat
report()
{
	trace-cmd report "$@" trace.dat >out 2>err || fail "trace-cmd report: exit $?: $(cat err)"
	[ -s err ] && fail "trace-cmd prints $(cat err)"
}

# has LINE...: out has the lines
has()
{
	for line; do
		grep -qxF -- "$line" out || fail "no line '$line' in: $(head -n 20 out)"
	done
}

convert -q losses.stk && report
has 'CPU:0 [34 EVENTS DROPPED]' 'CPU:1 [EVENTS DROPPED]' 'CPU:0 [EVENTS DROPPED]'
[ "$(grep -c DROPPED out)" -eq 3 ] || fail "losses.stk: $(cat out)"
report --stat
has 'CPU: 0' 'entries: 0' 'overrun: 34' 'read events: 3' 'CPU: 1' 'overrun: 4' 'read events: 2'
convert -q --time 0.0000025, losses.stk && report
has 'CPU:1 [3 EVENTS DROPPED]' 'CPU:0 [EVENTS DROPPED]'
convert -q small.stk && report --uname
has 'Linux demo 6.1.0-test unknown'
report --version
grep -q '^stackonce [0-9.]*$' out || fail "the version is missing: $(head -n 3 out)"
convert -q strings.stk && report
grep -q 'note: *a \\"quote\\", a \\\\ and a \\tline for 10 ms$' out ||
	fail "strings.stk: $(cat out)"
convert -q hostile.stk && report
grep -q '=> sym\\x1b\[31m (ffffffff81000010)' out || fail "hostile.stk: $(cat -v out)"
# a file without events
convert -q empty.stk && report
[ "$(grep -vc '^stackonce\|^cpus=1\|^CPU 0 is empty' out)" -eq 0 ] || fail "empty.stk: $(cat out)"

# Compiled here and now: it may have been installed after the build was configured.
kshark=
if echo '#include <kernelshark/libkshark.h>' | cc -E - >out 2>&1; then
	kshark=$dir/kshark_read
	cc -O1 "$here/kshark_read.c" -o "$kshark" -lkshark || fail "kshark_read.c"
fi
selection='demo.stk:-e sched:sched_switch --cpu 0 --time 10%,90%'
# shellcheck disable=SC2046 # words
"$python" "$here/trace_dat_equals.py" "$so" "$kshark" $(printf '%s.stk ' $kinds) large.stk \
	demo.stk rmap.stk import.stk late.stk fields.stk cpus.stk packets.stk times.stk \
	segment.0,segment.1 "$selection" || fail "the readers have something else"
# shellcheck disable=SC2046 # words
"$python" "$here/trace_dat_equals.py" "$so" "" waits.stk $(printf '%s.stk ' $kinds_odd) ||
	fail "trace-cmd has something else"
echo "$failed failed"
[ "$failed" -eq 0 ] || exit 1
[ -n "$kshark" ] || {
	echo "skipped: KernelShark's library (libkshark-dev, libjson-c-dev) is missing: only" \
		"trace-cmd read the files"
	exit 77
}
