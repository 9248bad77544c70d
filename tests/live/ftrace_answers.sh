#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 240
# shellcheck disable=SC2016 # programs of jq have variables of their own
# Lives, latencies, waits for futexes and times off CPU of the same programs at the same time are the
# same, whether ftrace or BPF recorded them: all but the times themselves, which two that look one
# after the other cannot agree on.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
need_tracefs
cd "$work" || exit 1

[ -x "$PROG/user/futexes" ] || skip "built without the programs of user stacks"
# Names of their own: a test beside this one may run the same programs.
pingpong=pp$$ forktree=ft$$ futexes=fx$$ getppid=gp$$
cp "$PROG/pingpong" $pingpong || exit 1
cp "$PROG/forktree" $forktree || exit 1
cp "$PROG/user/futexes" $futexes || exit 1
cp "$PROG/getppid" $getppid || exit 1
presets='--preset lifecycle,runqueue,futex,offcpu -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid'

# all_freed: whether all tasks of the programs that have exited are freed.
all_freed()
{
	awk -v ours=" comm=($pingpong|$forktree|$futexes|$getppid) " '
		match($0, / comm=.* pid=[0-9]+/) { who = substr($0, RSTART, RLENGTH) }
		/ sched_process_exit: / && who ~ ours { left[who]; any = 1 }
		/ sched_process_free: / { delete left[who] }
		END { for (who in left) exit 1; exit !any }' "$frees/trace"
}

# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend bpf $presets -o bpf.stk
bpf=$recorder
# shellcheck disable=SC2086 # a list
record_bg -a $roomy -k mono --no-user-stacks --backend ftrace $presets -o ftrace.stk
# A witness: what tracefs itself has of the switches while the programs run, and apart from these of ends.
# In a virtual machine it was seen to have no switch that the idle task of one CPU made, while BPF had them.
new_instance
frees=$instance
echo 1 >"$frees/events/sched/sched_process_exit/enable"
echo 1 >"$frees/events/sched/sched_process_free/enable"
new_instance
# shellcheck disable=SC2154 # of new_instance
echo mono >"$instance/trace_clock"
scale 65536 16384 >"$instance/buffer_size_kb"
echo 1 >"$instance/events/sched/sched_switch/enable" || fail "tracefs does not enable sched_switch"
./$pingpong "$(scale 1000 200)" 0 >/dev/null
./$forktree 3 2 10 >/dev/null
./$futexes "$(scale 5 2)" >/dev/null
./$getppid 500 >/dev/null
# Tasks leave their CPUs and are freed some time after their parents have waited for them.  Where
# tracefs lacks that they are freed, too, the answers say what is missing.
until_true 10 all_freed || note "not all are seen to be freed"
echo 0 >"$instance/tracing_on"
stop_recorder
recorder=$bpf
stop_recorder
cat "$instance/trace" >witness
cat "$instance"/per_cpu/cpu*/stats >witness.stats
! grep -q '^overrun: [1-9]' witness.stats || fail "the witness has lost events: nothing to compare"
for f in bpf ftrace; do
	want_sum $f.stk
	missing_from $f.stk >missing
	[ ! -s missing ] || fail "$f lost events, there is nothing to compare: $(cat missing)"
done

# The switches of the programs, CPU by CPU: those of tracefs.  Z or X is for each ring looked up when
# it gets the event; a parent on another CPU may reap the task in between.
switches_of()
{
	sed -n -e 's/ prev_state=[ZX] / prev_state=Z|X /' \
		-e 's/.*\(\[[0-9]*\]\).* sched_switch: /\1 /p' "$1" |
		grep -E "_comm=($pingpong|$forktree|$futexes) " | LC_ALL=C sort -s -k 1,1
}
"$STACKONCE" script --no-stacks ftrace.stk >ftrace.script || fail "script"
switches_of witness >witness.switches
switches_of ftrace.script >ftrace.switches
[ -s witness.switches ] || fail "the witness has no switches"
diff witness.switches ftrace.switches >differ || {
	head -n 20 differ
	fail "$(grep -c '^[<>]' differ) switches are not those of tracefs"
}
note "switches: $(wc -l <witness.switches) are those of tracefs"

# A CPU leaves the task that it went to.  Where it does not, tracefs lacks a switch: of these tasks
# the answers cannot be compared.
sed -n 's/.*\(\[[0-9]*\]\).* prev_pid=\([0-9]*\) .* next_pid=\([0-9]*\) .*/\1 \2 \3/p' witness |
	awk '$1 in at && at[$1] != $2 { print at[$1]; print $2 } { at[$1] = $3 }' >absent
broken=$(($(wc -l <absent) / 2))
# (a file of patterns is never empty: not every grep takes that)
echo '^none' >nobody
sort -u absent | sed 's/.*/^\\[&,/' | cat nobody - >absent.tids
[ "$broken" -eq 0 ] || note "tracefs lacks switches in $broken places"

# same WHAT MINIMUM JQ COMMAND ARGS...: both recordings give these lines, but those that match a line
# of the file $without.
without=nobody
same()
{
	what=$1 least=$2 select=$3
	shift 3
	for f in bpf ftrace; do
		"$STACKONCE" "$@" --json $f.stk >answer || fail "$what of $f.stk: $* ended with $?"
		jq -c "$select" answer >lines || fail "$what: jq"
		grep -v -f "$without" lines | LC_ALL=C sort >$f.answer
	done
	[ "$(wc -l <bpf.answer)" -ge "$least" ] || fail "$what: only $(wc -l <bpf.answer) answers"
	diff bpf.answer ftrace.answer >differ || {
		head -n 20 differ
		fail "$what: $(grep -c '^[<>]' differ) lines of the answers differ"
	}
	note "$what: $(wc -l <bpf.answer) lines are equal"
}

# hidden EVENTS: how many of these ftrace has that BPF does not see.
hidden()
{
	grep -E " ($1): " ftrace.script >events
	seen_by_bpf <events >seen
	echo $(($(wc -l <events) - $(wc -l <seen)))
}

# Of events inside the BPF programs BPF has no fields, and says of how many: it cannot tell who was
# freed there.  Nor can ftrace where tracefs lacks events.
unknown=$(($(counted bpf.stk sched:sched_process_free fields_missing) + $(hidden sched_process_free)))
lives='select(.comm == "'"$forktree"'" or .comm == "'"$pingpong"'" or .comm == "'"$getppid"'") |
	[.type, .pid, .comm, .state, .how, .code, .signal, .parent, .parent_comm, .orphan, .reaped_with,
		.execs, .threads, .exec]'
if [ $((unknown + broken)) -gt 0 ]; then
	for f in bpf ftrace; do
		"$STACKONCE" lifecycle --top 0 --json $f.stk | jq -c "$lives" | grep -c '"unfreed"' >$f.unfreed
	done
	missed=$(($(cat bpf.unfreed) - $(cat ftrace.unfreed)))
	if [ "$missed" -gt "$unknown" ] || { [ "$missed" -lt 0 ] && [ "$broken" -eq 0 ]; }; then
		fail "of $(cat bpf.unfreed) and $(cat ftrace.unfreed) the end is not known, $unknown without fields"
	fi
	lives="$lives"' | map(if . == "unfreed" then "freed" else . end)'
fi
same lives 15 "$lives" lifecycle --top 0
# By state and stack; who woke them is split by what an interrupt has hit.
without=absent.tids
least=1
[ "$broken" -eq 0 ] || least=0
for comm in $pingpong $forktree $futexes; do
	same "off CPU, $comm" "$least" 'select(.type == "group") | [.tid, .count, (.states | map_values(.count)),
		([.stacks[] | {count, key: [.state, [.frames[]? | [.sym, .off]]]}] | group_by(.key) |
		map([.[0].key, ([.[].count] | add)]))]' offcpu --by tid --stacks --comm "$comm"
done
without=nobody
same "futexes" 10 'select(.type == "group") | [.address, .waits, .timeouts, .errors]' \
	futex --by address --comm $futexes
same "futexes by place" 1 'select(.type == "group") | [.op, .waits, .timeouts]' \
	futex --by site --comm $futexes
same "system calls" 1 'select(.type == "group") | [.group, .count]' \
	latency --start syscalls:sys_enter_getppid --end syscalls:sys_exit_getppid --comm $getppid --by tid

# So many pairs may be missing with BPF, and as many as tracefs lacks with ftrace.
missing=$(($(info_of bpf.stk '[.events[].fields_missing] | add') + $(hidden 'sched_wak.*')))
[ "$(info_of ftrace.stk '[.events[].fields_missing] | add')" -eq 0 ] || fail "ftrace lacks fields"
for f in bpf ftrace; do
	"$STACKONCE" latency --preset runqueue --by next_comm --json $f.stk | jq -r \
		--arg ours "=($pingpong|$forktree|$futexes)\$" 'select(.type == "group" and (.group | test($ours))) |
			"\(.group) \(.count)"' | sort >$f.pairs
done
[ "$(wc -l <ftrace.pairs)" -eq 3 ] || fail "run queue: $(cat ftrace.pairs)"
awk 'NR == FNR { bpf[$1] = $2; next } { print $1, bpf[$1] + 0, $2 }' bpf.pairs ftrace.pairs >pairs
[ "$(awk -v most="$missing" -v broken="$broken" \
	'$2 - $3 <= broken && $3 - $2 <= most' pairs | wc -l)" -eq 3 ] || {
	cat pairs
	fail "run queue: counts differ by more than $missing events, unseen or without fields, and $broken gaps"
}
note "run queue: $(awk '{ n += $3 } END { print n }' pairs) pairs, with BPF $(awk '{ n += $2 }
	END { print n }' pairs) and $missing events unseen or without fields"
