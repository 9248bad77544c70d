#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares decoded sub-buffers of a ring buffer with the kernel's text: every record of every CPU,
# its time, task and type, and every address of every stack, with small and with large sub-buffers.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

need_tracefs
cd "$work" || exit 1

# record_ring: records the events of about half a second and stops the ring.
record_ring()
{
	echo 0 >"$instance/tracing_on"
	echo 1 >"$instance/tracing_on"
	"$PROG/getppid" "$(scale 150 50)" >getppid.out
	sleep "$(scale 0.5 1)"
	"$PROG/getppid" "$(scale 150 50)" >getppid.out
	echo 0 >"$instance/tracing_on"
}

# text_records: prints the records of `trace` as ftrace_pages does, without the sizes of events.
text_records()
{
	awk 'function out() { if (line != "") print line; line = "" }
	NR == FNR { id[$1] = $2; next }
	/^#/ || /^CPU:/ { next }
	/^ =>/ {
		if (match($0, /<[0-9a-f]+>$/)) # "=>  <...>" ends a stack and has no address
			line = line " " substr($0, RSTART + 1, RLENGTH - 2)
		next
	}
	match($0, /-[0-9]+ +\[[0-9]+\] [^ ]+ +[0-9]+\.[0-9]+: /) {
		out()
		split(substr($0, RSTART + 1, RLENGTH - 1), w, /[][ ]+/)
		pid = w[1]
		cpu = w[2] + 0
		us = w[4]
		gsub(/[.:]/, "", us)
		what = substr($0, RSTART + RLENGTH)
		type = what ~ /^<stack trace>/ ? kernel : what ~ /^<user stack trace>/ ? user : ""
		if (type == "") {
			end = index(what, "(")
			name = substr(what, 1, end ? end - 1 : length(what))
			sub(/:.*/, "", name)
			sub(/^sys_/, "sys_enter_", name)
			type = (name in id) ? id[name] : "?" name
		}
		line = cpu " " us " " pid " " type
	}
	END { out() }' kernel="$(kind kernel_stack)" user="$(kind user_stack)" ids "$instance/trace"
}

kind()
{
	sed -n 's/^ID: //p' "$tracefs/events/ftrace/$1/format"
}

# compare BYTES LEAST: compares both for a ring with sub-buffers of BYTES; it must have at least
# LEAST records.
compare()
{
	text_records | LC_ALL=C sort -s -n -k 1,1 >kernel
	args=
	for d in "$instance"/per_cpu/cpu*; do
		args="$args $d/trace_pipe_raw ${d##*/cpu}"
	done
	# shellcheck disable=SC2086 # a list
	"$PROG/ftrace_pages" "$1" $args >pages || fail "sub-buffers of $1 bytes do not decode"
	stacks="$(kind kernel_stack) $(kind user_stack)"
	grep -v '^lost' pages | awk -v stacks="$stacks" 'BEGIN { split(stacks, s) }
		$4 != s[1] && $4 != s[2] { NF-- } { print }' | LC_ALL=C sort -s -n -k 1,1 >ours
	[ "$(wc -l <kernel)" -ge "$2" ] || fail "only $(wc -l <kernel) records to compare"
	diff kernel ours >differ || {
		head -n 40 differ
		fail "sub-buffers of $1 bytes: decoded records differ from the kernel's text"
	}
	note "sub-buffers of $1 bytes: $(wc -l <ours) records equal," \
		"$(grep -c '^lost' pages) losses reported"
}

# overruns: prints how many records of the ring were overwritten.
overruns()
{
	cat "$instance"/per_cpu/cpu*/stats | awk '/^overrun/ { n += $2 } END { print n + 0 }'
}

new_instance
grep -H '' "$instance"/events/*/*/id | sed 's#.*/\([^/]*\)/id:#\1 #' >ids
echo 1 >"$instance/options/stacktrace"
echo 1 >"$instance/options/userstacktrace"
echo 1 >"$instance/options/sym-addr"
echo mono >"$instance/trace_clock"
for e in syscalls/sys_enter_getppid sched/sched_switch irq timer/hrtimer_expire_entry; do
	echo 1 >"$instance/events/$e/enable" || skip "this kernel has no event $e"
done

echo 4096 >"$instance/buffer_size_kb"
record_ring
compare 4096 "$(scale 300 100)"
# on a busy machine the ring may be too small for half a second
if [ "$(overruns)" -eq 0 ]; then
	grep -q '^lost' pages && fail "a loss is reported, but nothing was lost"
else
	grep -q '^lost' pages || fail "$(overruns) records were lost, but no loss is reported"
fi

if [ -e "$instance/buffer_subbuf_size_kb" ]; then
	echo 16 >"$instance/buffer_subbuf_size_kb" || fail "sub-buffers of 16 kB are refused"
	record_ring
	compare 16384 "$(scale 300 100)"
	echo 4 >"$instance/buffer_subbuf_size_kb"
fi

# A ring so small that most records are overwritten: two sub-buffers of each CPU are left.
echo 8 >"$instance/buffer_size_kb"
record_ring
compare 4096 $(($(nproc) * 10))
[ "$(overruns)" -gt 0 ] || fail "the ring did not overflow: this tested nothing"
grep -q '^lost' pages || fail "$(overruns) records were lost, but no loss is reported"
