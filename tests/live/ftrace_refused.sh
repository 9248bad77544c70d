#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# Where BPF is refused, by missing capabilities or by the kernel, ftrace records by itself, and says so
# once; what only BPF can do is refused in one clear line, and with --backend bpf all is.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

event=syscalls:sys_enter_getppid
said='BPF is refused here \(.*\): recording with ftrace$'

# recorded HOW...: with that in front of it the recorder chooses ftrace, and records.
recorded()
{
	"$@" "$STACKONCE" record -e $event -o auto.stk -- "$PROG/getppid" 100 >out 2>err || {
		cat err
		fail "$*: not recorded"
	}
	[ "$(grep -cE "$said" err)" -eq 1 ] || fail "$*: not told: $(cat err)"
	[ "$(counted auto.stk $event recorded)" -eq 100 ] || fail "$*: events are missing"
	want_sum auto.stk
	"$@" "$STACKONCE" record -q -e $event -o auto.stk -- "$PROG/getppid" 100 >out 2>err ||
		fail "$*: not recorded with -q"
	[ ! -s err ] || fail "$*: -q says $(cat err)"
}

# refused WHY ARGS...: in one line that says why, without a recording.
refused()
{
	why=$1
	shift
	rm -f no.stk
	"$@" -o no.stk -- true >out 2>err && fail "$*: recorded"
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
	grep -qE "^stackonce: .*$why" err || fail "$*: $(cat err)"
	[ ! -s no.stk ] || fail "$*: a recording was left"
}

recorded "$PROG/nobpf"
refused 'BPF programs: Operation not permitted' "$PROG/nobpf" "$STACKONCE" record -q --backend bpf -e $event
refused 'timer samples need BPF' "$PROG/nobpf" "$STACKONCE" record -q
[ -d "$tracefs/events/rmap" ] ||
	refused 'emulating it by probes needs BPF' "$STACKONCE" record -q --backend ftrace --preset rmap
# busybox has one that cannot
drop='setpriv --bounding-set=-bpf,-sys_admin,-perfmon'
if $drop true 2>/dev/null; then
	# shellcheck disable=SC2086 # a list of words
	recorded $drop
	# shellcheck disable=SC2086
	refused 'recording needs CAP_BPF' $drop "$STACKONCE" record -q --backend bpf -e $event
fi
# Neither: there is nothing to record with.
if $drop true 2>/dev/null && unshare -m true 2>/dev/null; then
	mkdir none
	cat >blind <<'END'
umount /sys/kernel/debug 2>/dev/null
mount --bind "$1" /sys/kernel/tracing && shift && exec "$@"
END
	# shellcheck disable=SC2086
	refused 'recording needs CAP_BPF' unshare -m sh blind "$work/none" $drop "$STACKONCE" record -q \
		-e $event
fi

for how in '-F 99' '-F 99 -e sched:sched_switch' '' '-e f:vfs_read' '-e u:/bin/sh:main' \
	'-e usdt:/bin/sh:x' '--preset page-fault' '--user-stacks=cfi -e sched:sched_switch'; do
	# shellcheck disable=SC2086 # a list of words
	refused 'BPF' "$STACKONCE" record -q --backend ftrace $how
done
refused 'nearest: ' "$STACKONCE" record -q --backend ftrace -e sched:sched_swich
"$STACKONCE" record --backend kprobes -e $event -- true 2>err
[ $? -eq 2 ] || fail "a backend that is none is no wrong command line"

# doctor tells which it would be.
"$PROG/nobpf" "$STACKONCE" doctor >doctor.txt
grep -q '^ok   recording by ftrace' doctor.txt || {
	cat doctor.txt
	fail "doctor does not know of ftrace"
}
grep -q '^Recording works here by ftrace' doctor.txt || fail "doctor: $(tail -n 1 doctor.txt)"
note "$(tail -n 1 doctor.txt)"
