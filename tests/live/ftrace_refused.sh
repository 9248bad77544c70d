#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where BPF is refused, by missing capabilities or by the kernel, the recorder chooses ftrace and
# says so once.  What only BPF can do is refused in one clear line; with --backend bpf everything
# is.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

event=syscalls:sys_enter_getppid
said='BPF is refused here \(.*\): recording with ftrace$'

# recorded PREFIX...: started by this command, the recorder chooses ftrace and records.
recorded()
{
	"$@" "$STACKONCE" record -e $event -o auto.stk -- "$PROG/getppid" 100 >out 2>err || {
		cat err
		fail "$*: record failed"
	}
	[ "$(grep -cE "$said" err)" -eq 1 ] ||
		fail "$*: record does not say that it uses ftrace: $(cat err)"
	[ "$(counted auto.stk $event recorded)" -eq 100 ] || fail "$*: events are missing"
	want_sum auto.stk
	"$@" "$STACKONCE" record -q -e $event -o auto.stk -- "$PROG/getppid" 100 >out 2>err ||
		fail "$*: record -q failed"
	[ ! -s err ] || fail "$*: record -q prints $(cat err)"
}

# refused WHY ARGS...: record is refused in one line that says why, and leaves no recording.
refused()
{
	why=$1
	shift
	rm -f no.stk
	"$@" -o no.stk -- true >out 2>err && fail "$*: not refused"
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line of messages: $(cat err)"
	grep -qE "^stackonce: .*$why" err || fail "$*: $(cat err)"
	[ ! -s no.stk ] || fail "$*: a recording was left"
}

recorded "$PROG/nobpf"
refused 'load the BPF programs into the kernel: Operation not permitted' \
	"$PROG/nobpf" "$STACKONCE" record -q --backend bpf -e $event
refused 'timer samples need BPF' "$PROG/nobpf" "$STACKONCE" record -q
[ -d "$tracefs/events/rmap" ] ||
	refused 'emulating it by probes needs BPF' \
		"$STACKONCE" record -q --backend ftrace --preset rmap
# busybox's setpriv lacks the option
drop='setpriv --bounding-set=-bpf,-sys_admin,-perfmon'
if $drop true 2>/dev/null; then
	# shellcheck disable=SC2086 # a list of words
	recorded $drop
	# shellcheck disable=SC2086
	refused 'recording needs CAP_BPF' $drop "$STACKONCE" record -q --backend bpf -e $event
fi
# Neither BPF nor tracefs is available.
if $drop true 2>/dev/null && unshare -m true 2>/dev/null; then
	mkdir none
	cat >blind <<'END'
umount /sys/kernel/debug 2>/dev/null
mount --bind "$1" /sys/kernel/tracing && shift && exec "$@"
END
	# shellcheck disable=SC2086
	refused 'recording needs CAP_BPF' \
		unshare -m sh blind "$work/none" $drop "$STACKONCE" record -q -e $event
fi

for how in '-F 99' '-F 99 -e sched:sched_switch' '' '-e f:vfs_read' '-e u:/bin/sh:main' \
	'-e usdt:/bin/sh:x' '--preset page-fault' '--user-stacks=cfi -e sched:sched_switch'; do
	# shellcheck disable=SC2086 # a list of words
	refused 'BPF' "$STACKONCE" record -q --backend ftrace $how
done
refused 'did you mean ' "$STACKONCE" record -q --backend ftrace -e sched:sched_swich
"$STACKONCE" record --backend kprobes -e $event -- true 2>err
[ $? -eq 2 ] || fail "an unknown backend is not a usage error"

# doctor prints which backend the recorder would choose.
"$PROG/nobpf" "$STACKONCE" doctor >doctor.txt
grep -q '^ok   recording by ftrace' doctor.txt || {
	cat doctor.txt
	fail "doctor does not print that ftrace can record"
}
grep -q '^Recording works here with ftrace' doctor.txt || fail "doctor: $(tail -n 1 doctor.txt)"
note "$(tail -n 1 doctor.txt)"
