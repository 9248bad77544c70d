# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $work, $PROG, $STACKONCE, $tracefs
# needs: variant=fp live
# timeout: 2400
# Kernel stacks on a kernel that unwinds by frame pointers: stackonce's own walk returns the stacks
# of bpf_get_stack(), at the events of all systems and in timer samples, in file systems and in
# modules that are loaded and unloaded, and with kretprobes and function_graph on the stack; and so
# does the recorder.
export LIVE=/live PROG=/live/prog STACKONCE=/usr/bin/stackonce LIVE_OUT="$OUT"
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

untrace()
{
	echo nop >"$tracefs/current_tracer"
	[ ! -d "$tracefs/events/kprobes" ] || echo 0 >"$tracefs/events/kprobes/enable"
	echo >"$tracefs/kprobe_events"
}

restore()
{
	untrace
	umount "$work/ext" 2>/dev/null
	rmmod brd ext4 jbd2 mbcache crc16 crc32c_generic 2>/dev/null
}

# live TEST: runs one of the live tests; the machine has all that they need.
live()
{
	LIVE_REASON=$work/reason sh "$LIVE/$1.sh" >"$1.log" 2>&1 || {
		cat "$1.log" reason 2>/dev/null
		fail "$1"
	}
	sed -n "s/^# /$1: /p" "$1.log"
}

# value KEY FILE: a value that walk_dropin printed.
value()
{
	sed -n "s/^$1 //p" "$2"
}

# compare NAME COMMAND...: compares every stack at the events in the file `events` while COMMAND
# runs.
compare()
{
	name=$1
	shift
	"$PROG/walk_dropin" right events "$@" >"$name.said" 2>err ||
		fail "$name: $(cat "$name.said" err)"
	[ "$(value differed "$name.said")" -eq 0 ] || fail "$name: $(cat "$name.said")"
	[ "$(value agreed "$name.said")" -gt 0 ] || fail "$name: $(cat "$name.said")"
	echo "$name: $(value agreed "$name.said") equal," \
		"left to the kernel $(value off "$name.said")" \
		"$(value 'other text' "$name.said") (other text)" \
		"$(value 'no rule' "$name.said") (tracers)" \
		"$(value 'left the stack' "$name.said") (off the stack)," \
		"through modules $(value through_modules "$name.said")"
	grep gave_up_at "$name.said" | sort -rnk 3 | head -n 5 | while read -r _ at n; do
		echo "    $n at $at"
	done
}

"$STACKONCE" doctor >said 2>&1
grep 'kernel stacks by ORC rules or frame pointers' said | grep -q 'by frame pointers' ||
	fail "$(cat said)"
live walk_dropin
live kernel_unwind
live walk_modules

# A file system and a disk in modules, and other work.
mkdir ext
for m in crc32c_generic crc16 mbcache jbd2 ext4; do
	insmod "$PROG/$m.ko" || fail "insmod $m"
done
insmod "$PROG/brd.ko" rd_nr=1 rd_size=8192 || fail "insmod brd"
mke2fs -F /dev/ram0 >/dev/null 2>&1 || fail "mke2fs"
mount -t ext4 /dev/ram0 ext || fail "mount"
cat >work <<'EOT'
i=0
while [ $i -lt 6 ]; do
	i=$((i + 1))
	dd if=/dev/zero of=ext/file bs=64k count=4 conv=fsync 2>/dev/null
	cat ext/file >/dev/null
	rm ext/file
	find /proc/self /sys/kernel >/dev/null 2>&1
done
"$PROG/pingpong" 500 0 >/dev/null
nc -l -p 4711 -s 127.0.0.1 >/dev/null &
sleep 1
dd if=/dev/zero bs=16k count=16 2>/dev/null | nc 127.0.0.1 4711
wait
"$PROG/forktree" >/dev/null 2>&1
"$PROG/getppid" 500 >/dev/null
EOT

# All events, 100 at a time; system calls by the two raw events.
grep -v -E '^(syscalls|ftrace|kprobes|uprobes):' "$tracefs/available_events" >all
awk '{ print >sprintf("part.%02d", (NR - 1) / 100) }' all
for part in part.*; do
	cp "$part" events
	compare "$part" sh ./work
done

# Return addresses that tracers have replaced.
some='sched:sched_(switch|waking)|kmem:k(malloc|free)|block:block_.*|raw_syscalls:.*|timer:.*'
grep -E "^($some)\$" all >events
compare plain sh ./work
echo 'r:kr_write vfs_write' >"$tracefs/kprobe_events" || fail "no kretprobes"
echo 'r:kr_read vfs_read' >>"$tracefs/kprobe_events"
echo 1 >"$tracefs/events/kprobes/enable"
compare kretprobes sh ./work
[ "$(value 'no rule' kretprobes.said)" -gt 0 ] || fail "no kretprobe was on a stack"
untrace
echo 'vfs_* ksys_* schedule* do_sys*' >"$tracefs/set_ftrace_filter"
echo function_graph >"$tracefs/current_tracer" || fail "no function_graph"
compare function_graph sh ./work
[ "$(value 'no rule' function_graph.said)" -gt 0 ] || fail "function_graph was on no stack"
untrace

cp ./*.said ./*.log "$OUT/"
note "$(cat ./*.said | awk '$1 == "agreed" { a += $2 } $1 == "differed" { d += $2 }
	/^(off|other text|no rule|left the stack) / { g += $NF }
	END { printf "%d stacks equal, %d differ, %d left to the kernel", a, d, g }')"
