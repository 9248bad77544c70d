#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# export ctf: babeltrace2 reads from the trace what script --json prints, and complains of nothing
# but lost events; an existing directory is replaced only with --force, and only if it is ours.
#   ctf.sh STACKONCE MAKE_RECORDING SPLIT_RECORDING CTF_RECORDING PYTHON
set -u
here=$(cd "$(dirname "$0")" && pwd)
so=$(realpath "$1") make=$(realpath "$2") split=$(realpath "$3") odd=$(realpath "$4")
golden=$here/../../golden
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"

kinds='small empty long abrupt hostile aliases losses flags strings user user-hostile guesses
	latency lifecycle zombies wakers selected stalls addresses annotate replaced profile'
# shellcheck disable=SC2086 # a list of kinds
record $kinds
"$split" time 2 latency.stk segment || exit 1

# ---- the directory ------------------------------------------------------------------------------

# export WHAT ARGS...: it succeeds, without a word
export_quietly()
{
	what=$1
	shift
	"$so" export ctf -q "$@" 2>err || fail "$what: exit $?: $(cat err)"
	grep -v 'does not say the time of day' err && fail "$what prints the above"
}

# everything: what the directories and their files are
everything()
{
	ls -ld --time-style=full-iso trace
	ls -lAR --time-style=full-iso trace other plain
}

# refused WORDS ARGS...: exit 1, a line with these words, and nothing changed
refused()
{
	words=$1
	shift
	everything >before 2>/dev/null
	"$so" export ctf -q "$@" small.stk 2>err
	code=$?
	[ $code -eq 1 ] || fail "$*: exit $code"
	grep -qF -- "$words" err || fail "$*: $(cat err)"
	everything >after 2>/dev/null
	cmp -s before after || fail "$*: changed something"
}

export_quietly 'a new directory' small.stk -o trace
first=$(ls -i -d trace)
cp trace/metadata metadata.first
refused "'trace' exists: not replaced without --force" -o trace
export_quietly 'a slash at the end' --force small.stk -o trace/
[ "$(ls -i -d trace)" != "$first" ] || fail "the trace was not replaced"
cmp -s metadata.first trace/metadata && fail "two traces have one uuid"
mkdir plain other
echo text >other/text
cp trace/* other
refused "'plain' holds something else" --force -o plain
refused "'other' holds something else" --force -o other
mv other/text other/cpu_text
refused "'other' holds something else" --force -o other
rm other/cpu_text
cp small.stk other/cpu_9
refused "'other' holds something else" --force -o other
rm other/cpu_9
echo '/* CTF 1.8 */' >other/metadata
refused "'other' holds something else" --force -o other
refused "'small.stk' exists and is not a directory" --force -o small.stk
refused 'cannot be standard output' -o -
refused "create 'nosuch/trace': No such file" -o nosuch/trace
"$so" export ctf small.stk -o damaged/trace 2>/dev/null
chmod 750 trace
export_quietly 'another one' --force small.stk -o trace
[ "$(stat -c %a trace)" = 750 ] || fail "the mode of a replaced directory was changed"
ln -s trace link
export_quietly 'a link' --force small.stk -o link
[ -L link ] || fail "the link was replaced"
rm -f link
[ -z "$(find . -name '.stackonce*')" ] || fail "left $(find . -name '.stackonce*')"
# Failed, or killed, half way: nothing is left, and the old trace stays.
"$make" large large.stk 20000 500
(
	trap '' XFSZ
	ulimit -f 64
	"$so" export ctf -q --force large.stk -o trace
) 2>err && fail "a trace larger than the file size limit"
grep -q "write '[a-z0-9_]*' in 'trace': File too large" err || fail "file size limit: $(cat err)"
(
	ulimit -f 64
	"$so" export ctf -q --force large.stk -o trace
	"$so" export ctf -q large.stk -o large
) >/dev/null 2>&1 && fail "a trace larger than the file size limit"
cmp -s trace/cpu_0 large/cpu_0 && fail "a failed export replaced a trace"
[ ! -e large ] && [ -z "$(find . -name '.stackonce*')" ] || fail "a failed export left something"

# More CPUs than files may be open.
"$odd" late late.stk 10 && "$odd" late later.stk 20 && "$odd" fields fields.stk &&
	"$odd" cpus cpus.stk 600 && "$odd" packets packets.stk && "$odd" times times.stk || exit 1
(
	failed=0
	ulimit -S -n 256
	export_quietly '600 CPUs' cpus.stk -o cpus.ctf
	[ "$failed" -eq 0 ]
) || failed=$((failed + 1))
[ "$(ls cpus.ctf | wc -l)" -eq 602 ] || fail "600 CPUs: $(ls cpus.ctf | wc -l) files"
(
	ulimit -n 256
	"$so" export ctf -q --force cpus.stk -o cpus.ctf 2>err
) && fail "600 CPUs in 256 files"
grep -q "create 'cpu_2[0-9]*' in 'cpus.ctf': Too many open files" err || fail "it says $(cat err)"

# Late events have streams of their own, up to 16 of a CPU.
export_quietly 'late events' late.stk -o late.ctf
[ "$(ls late.ctf | grep -c '^cpu_0_late_[0-9]*$')" -eq 9 ] || fail "late.ctf has $(ls late.ctf)"
"$so" export ctf later.stk -o later.ctf 2>err || fail "later.stk: $(cat err)"
grep -q 'counted as discarded, 3 events too far out of order' err || fail "later.stk: $(cat err)"
"$so" export ctf times.stk -o times.ctf 2>err || fail "times.stk: $(cat err)"
grep -q 'discarded, 1 event too far' err || fail "times.stk: $(cat err)"

# A pipe is read as a file is.
cat small.stk | "$so" export ctf -q - -o piped 2>/dev/null || fail "a pipe"
for f in cpu_0 cpu_1 tables; do
	# after the uuid of the trace
	tail -c +21 piped/$f >got
	tail -c +21 trace/$f | cmp -s - got || fail "a pipe makes another $f"
done

# ---- babeltrace2 --------------------------------------------------------------------------------

judge=
for python in "$5" /usr/bin/python3; do
	"$python" -c 'import bt2' 2>/dev/null && judge=$python && break
done
if [ -z "$judge" ] || ! command -v babeltrace2 >/dev/null; then
	echo "$failed failed"
	echo "skipped: babeltrace2 or its Python module is missing: the traces were not read"
	[ "$failed" -eq 0 ] || exit 1
	exit 77
fi

# What babeltrace2 itself says: nothing but what was lost.
for kind in $kinds; do
	"$so" export ctf -q "$kind.stk" -o "$kind.ctf" 2>/dev/null
	babeltrace2 "$kind.ctf" >text 2>err || fail "babeltrace2 $kind.ctf: exit $?"
	sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' err | tr '\n' ' ' >counts
	[ "$kind" != losses ] || cp counts counts.losses
	grep -v '^WARNING: Tracer discarded [0-9]* event' err &&
		fail "babeltrace2 $kind.ctf prints the above"
	LC_ALL=C grep -n '[^[:print:]]' text | LC_ALL=C grep '[[:cntrl:]]' &&
		fail "$kind.ctf makes babeltrace2 print control characters"
done
[ "$(cat counts.losses)" = '34 4 7 1 ' ] ||
	fail "babeltrace2 counts the losses $(cat counts.losses)"

# What was left out is in the counts of babeltrace2.
for kind in later times; do
	babeltrace2 $kind.ctf >text 2>err || fail "babeltrace2 $kind.ctf: exit $?"
	sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' err | tr '\n' ' ' >$kind.counts
done
cat later.counts times.counts >counts
[ "$(cat counts)" = '3 1 ' ] || fail "babeltrace2 counts what was left out as $(cat counts)"

# The wall clock, and what the trace says about its machine.
[ "$(babeltrace2 --clock-seconds late.ctf | sed -n '1s/^\[\([0-9.]*\)\].*/\1/p')" = \
	1790000001.235457890 ] || fail "the first late event is not at its time"
for word in 'domain = "kernel"' 'sysname = "Linux"' 'hostname = "demo"' \
	'kernel_release = "6.1.0-test"' 'tracer_name = "stackonce"' 'tracer_major = [0-9]*'; do
	babeltrace2 convert -o ctf-metadata small.ctf | grep -q "^	$word;\$" ||
		fail "the metadata lack $word"
done

# Traces of two hosts are read as one.
"$split" hosts 2 latency.stk host || exit 1
for host in 0 1; do
	"$so" export ctf -q host.$host -o host.$host.ctf 2>/dev/null || fail "host.$host"
done
babeltrace2 host.0.ctf host.1.ctf 2>/dev/null | grep -c 'tid = ' >nr
[ "$(cat nr)" -eq 198 ] || fail "two hosts have $(cat nr) events"

cp "$golden"/*.stk .
"$judge" "$here/ctf_equals.py" "$so" $(printf '%s.stk ' $kinds) large.stk rmap.stk waits.stk \
	late.stk fields.stk packets.stk cpus.stk demo.stk segment.0,segment.1 ||
	fail "babeltrace2 reads something else"
"$judge" "$here/ctf_equals.py" "$so" --select demo.stk -e sched:sched_switch --cpu 0 \
	--time 10%,90% || fail "babeltrace2 reads something else of a selection"
echo "$failed failed"
[ "$failed" -eq 0 ]
