#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2016 # programs of jq have variables of their own
# Two recorders record the same programs at the same time, one by ftrace and one by BPF: lifecycles,
# latencies, futex waits and times off CPU are the same.  Only the times themselves differ, because
# one of the two reads the clock after the other.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

[ -x "$PROG/user/futexes" ] || skip "built without the programs of user stacks"
# Unique names, because a test beside this one may run the same programs.
pingpong=pp$$ forktree=ft$$ futexes=fx$$ getppid=gp$$ later=lt$$
cp "$PROG/pingpong" $pingpong || exit 1
cp "$PROG/forktree" $forktree || exit 1
cp "$PROG/user/futexes" $futexes || exit 1
cp "$PROG/getppid" $getppid || exit 1
cp "$PROG/getppid" $later || exit 1
presets='--preset lifecycle,runqueue,futex,offcpu'
presets="$presets -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid"

# all_freed: true if all tasks of the programs that have exited are freed.  What is missing when 20
# tasks that ended later are freed, each in another try, is hidden from tracefs.
all_freed()
{
	./$later 1 >/dev/null
	awk -v ours=" comm=($pingpong|$forktree|$futexes|$getppid) " -v later=" comm=$later " '
		match($0, / comm=.* pid=[0-9]+/) { task = substr($0, RSTART, RLENGTH) }
		/ sched_process_exit: / && task ~ ours { left[task]; any = 1 }
		/ sched_process_free: / { delete left[task]; freed += task ~ later }
		END {
			for (task in left) {
				if (freed >= 20)
					print "# tracefs lacks the free of" task
				exit freed < 20
			}
			exit !any
		}' "$frees/trace"
}

# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend bpf $presets -o bpf.stk
bpf=$recorder
# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend ftrace $presets -o ftrace.stk
# Two ftrace instances of the test record the switches while the programs run, and the ends of
# tasks.  In a virtual machine, ftrace was seen to lack all switches by the idle task of one CPU,
# while BPF recorded them.
new_instance
frees=$instance
ours=
for comm in $pingpong $forktree $futexes $getppid $later; do
	ours="${ours:+$ours || }comm == \"$comm\""
done
for event in sched_process_exit sched_process_free; do
	echo "$ours" >"$frees/events/sched/$event/filter"
	echo 1 >"$frees/events/sched/$event/enable"
done
new_instance
# shellcheck disable=SC2154 # of new_instance
echo mono >"$instance/trace_clock"
follow_init
scale 65536 16384 >"$instance/buffer_size_kb"
echo 1 >"$instance/events/sched/sched_switch/enable" || fail "tracefs does not enable sched_switch"
./$pingpong "$(scale 1000 200)" 0 >/dev/null
./$forktree 3 2 10 >/dev/null
./$futexes "$(scale 5 2)" >/dev/null
./$getppid 500 >/dev/null
# Tasks leave their CPUs and are freed some time after their parents have waited for them.  Where
# tracefs lacks frees, too, the comparison below finds what is missing.
until_true 10 all_freed || note "tracefs does not have all frees"
echo 0 >"$instance/tracing_on"
stop_recorder
recorder=$bpf
stop_recorder
cat "$instance/trace" >instance.txt
cat "$instance"/per_cpu/cpu*/stats >instance.stats
! grep -q '^overrun: [1-9]' instance.stats ||
	fail "the test's instance has lost events, the recordings cannot be compared"
for f in bpf ftrace; do
	want_sum $f.stk
	missing_from $f.stk >missing
	[ ! -s missing ] ||
		fail "$f lost events, the recordings cannot be compared: $(cat missing)"
done

# switches_of FILE: prints the programs' switches in ftrace's text, CPU by CPU.  The kernel chooses
# between the states Z and X for each ring when it writes the event; a parent on another CPU may
# reap the task in between.
switches_of()
{
	sed -n -e 's/ prev_state=[ZX] / prev_state=Z|X /' \
		-e 's/.*\(\[[0-9]*\]\).* sched_switch: /\1 /p' "$1" |
		grep -E "_comm=($pingpong|$forktree|$futexes) " | LC_ALL=C sort -s -k 1,1
}
"$STACKONCE" script --no-stacks ftrace.stk >ftrace.script || fail "script"
switches_of instance.txt >instance.switches
switches_of ftrace.script >ftrace.switches
[ -s instance.switches ] || fail "the test's instance has no switches"
diff instance.switches ftrace.switches >differ || {
	head -n 20 differ
	fail "$(grep -c '^[<>]' differ) switches differ from those of the test's instance"
}
note "switches: $(wc -l <instance.switches) are equal"

# A CPU switches away from the task that it last switched to.  Otherwise tracefs lacks a switch, and
# the answers about these two tasks cannot be compared.
sed -n 's/.*\(\[[0-9]*\]\).* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2 \3/p' \
	instance.txt |
	awk '$1 in at && at[$1] != $2 { print at[$1]; print $2 } { at[$1] = $3 }' >absent
broken=$(($(wc -l <absent) / 2))
# BPF lacks the switches from threads of PID 1: those to the programs' tasks.
seen_by_bpf <instance.txt >seen.txt
awk -v ours=" next_comm=($pingpong|$forktree|$futexes) " '
	FILENAME == "seen.txt" { seen[$0]; next }
	/ sched_switch: / && $0 ~ ours && !($0 in seen) && match($0, / next_pid=[0-9]+/) {
		print substr($0, RSTART + 10, RLENGTH - 10)
	}' seen.txt instance.txt >unseen
cat unseen >>absent
# (not every grep accepts an empty file of patterns)
echo '^none' >no_tids
sort -u absent | sed 's/.*/^\\[&,/' | cat no_tids - >absent.tids
[ "$broken" -eq 0 ] || note "tracefs lacks switches in $broken places"
[ ! -s unseen ] || note "$(wc -l <unseen) switches are hidden from BPF"

# returned COMM: prints how many tasks of this name left a CPU and got one again, but for those that
# cannot be compared.
returned()
{
	awk -v comm=" prev_comm=$1 " '
		FILENAME == "absent" { absent[$1]; next }
		match($0, / next_pid=[0-9]+/) {
			tid = substr($0, RSTART + 10, RLENGTH - 10)
			if (tid in off && !(tid in absent))
				back[tid]
		}
		index($0, comm) && !/ prev_state=[ZX] / && match($0, / prev_pid=[0-9]+/) {
			off[substr($0, RSTART + 10, RLENGTH - 10)]
		}
		END { for (tid in back) n++; print n + 0 }' absent instance.txt
}

# same WHAT MINIMUM JQ COMMAND ARGS...: the answers about both recordings are equal, except for
# lines that match a pattern in the file $without.
without=no_tids
same()
{
	what=$1 least=$2 select=$3
	shift 3
	for f in bpf ftrace; do
		"$STACKONCE" "$@" --json $f.stk >answer || fail "$what of $f.stk: $* ended with $?"
		jq -c "$select" answer >lines || fail "$what: jq failed"
		grep -v -f "$without" lines | LC_ALL=C sort >$f.answer
	done
	[ "$(wc -l <bpf.answer)" -ge "$least" ] || fail "$what: only $(wc -l <bpf.answer) answers"
	diff bpf.answer ftrace.answer >differ || {
		head -n 20 differ
		fail "$what: $(grep -c '^[<>]' differ) lines of the answers differ"
	}
	note "$what: $(wc -l <bpf.answer) lines are equal"
}

# hidden EVENTS: prints how many of these events ftrace has, but BPF cannot see.
hidden()
{
	grep -E " ($1): " ftrace.script >events
	seen_by_bpf <events >seen
	echo $(($(wc -l <events) - $(wc -l <seen)))
}

# Nested events have no fields with BPF, which counts them: the freed task is unknown there.  It is
# unknown to ftrace where tracefs lacks events.
unknown=$(counted bpf.stk sched:sched_process_free fields_missing)
unknown=$((unknown + $(hidden sched_process_free)))
lifecycles='select(.comm == "'"$forktree"'" or .comm == "'"$pingpong"'" or
		.comm == "'"$getppid"'") |
	[.type, .pid, .comm, .state, .how, .code, .signal, .parent, .parent_comm, .orphan,
		.reaped_with, .execs, .threads, .exec]'
if [ $((unknown + broken)) -gt 0 ]; then
	for f in bpf ftrace; do
		"$STACKONCE" lifecycle --top 0 --json $f.stk | jq -c "$lifecycles" |
			grep -cE '"(unfreed|gone)"' >$f.unfreed
	done
	missed=$(($(cat bpf.unfreed) - $(cat ftrace.unfreed)))
	if [ "$missed" -gt "$unknown" ] || { [ "$missed" -lt 0 ] && [ "$broken" -eq 0 ]; }; then
		fail "unfreed tasks: $(cat bpf.unfreed) with BPF, $(cat ftrace.unfreed) with" \
			"ftrace, but only $unknown frees are hidden or have fields missing"
	fi
	lifecycles="$lifecycles"' |
		map(if . == "unfreed" or . == "gone" then "freed" else . end)'
fi
same lifecycles 15 "$lifecycles" lifecycle --top 0
# By state and stack, but not by waker: that depends on which task an interrupt has hit.
without=absent.tids
for comm in $pingpong $forktree $futexes; do
	least=$(returned "$comm")
	[ "$least" -gt 0 ] || [ -s absent ] || fail "no $comm left its CPU and got it again"
	same "off CPU, $comm" "$least" 'select(.type == "group") |
		[.tid, .count, (.states | map_values(.count)),
		([.stacks[] | {count, key: [.state, [.frames[]? | [.sym, .off]]]}] |
		group_by(.key) | map([.[0].key, ([.[].count] | add)]))]' \
		offcpu --by tid --stacks --comm "$comm"
done
without=no_tids
same "futexes" 10 'select(.type == "group") | [.address, .waits, .timeouts, .errors]' \
	futex --by address --comm $futexes
same "futexes by place" 1 'select(.type == "group") | [.op, .waits, .timeouts]' \
	futex --by site --comm $futexes
same "system calls" 1 'select(.type == "group") | [.group, .count]' \
	latency --start syscalls:sys_enter_getppid --end syscalls:sys_exit_getppid --comm $getppid \
	--by tid

# With BPF as many pairs may be missing as events are hidden or have no fields, with ftrace as many
# as tracefs lacks.
missing=$(($(info_of bpf.stk '[.events[].fields_missing] | add') + $(hidden 'sched_wak.*') +
	$(wc -l <unseen)))
[ "$(info_of ftrace.stk '[.events[].fields_missing] | add')" -eq 0 ] || fail "ftrace lacks fields"
for f in bpf ftrace; do
	"$STACKONCE" latency --preset runqueue --by next_comm --json $f.stk | jq -r \
		--arg ours "=($pingpong|$forktree|$futexes)\$" '
			select(.type == "group" and (.group | test($ours))) |
			"\(.group) \(.count)"' | sort >$f.pairs
done
[ "$(wc -l <ftrace.pairs)" -eq 3 ] || fail "run queue: $(cat ftrace.pairs)"
awk 'NR == FNR { bpf[$1] = $2; next } { print $1, bpf[$1] + 0, $2 }' bpf.pairs ftrace.pairs >pairs
[ "$(awk -v most="$missing" -v broken="$broken" \
	'$2 - $3 <= broken && $3 - $2 <= most' pairs | wc -l)" -eq 3 ] || {
	cat pairs
	fail "run queue: counts differ by more than the $missing events that are hidden from BPF" \
		"or have no fields there, and the $broken that tracefs lacks"
}
note "run queue: $(awk '{ n += $3 } END { print n }' pairs) pairs, with BPF $(awk '{ n += $2 }
	END { print n }' pairs) and $missing events hidden or without fields"
