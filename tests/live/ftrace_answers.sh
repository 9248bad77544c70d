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

program=$PROG/user/futexes
[ -x "$program" ] || skip "built without the programs of user stacks"
presets='--preset lifecycle,runqueue,futex,offcpu -e syscalls:sys_enter_getppid -e syscalls:sys_exit_getppid'

# shellcheck disable=SC2086 # a list
record_bg -a -k mono --no-user-stacks --backend bpf $presets -o bpf.stk
bpf=$recorder
# shellcheck disable=SC2086 # a list
record_bg -a -k mono --no-user-stacks --backend ftrace $presets -o ftrace.stk
"$PROG/pingpong" "$(scale 1000 200)" 0 >/dev/null
"$PROG/forktree" 3 2 10 >/dev/null
"$program" "$(scale 5 2)" >/dev/null
"$PROG/getppid" 500 >/dev/null
# the last of them is freed some time after its end
sleep "$(scale 1 2)"
stop_recorder
recorder=$bpf
stop_recorder
for f in bpf ftrace; do
	want_sum $f.stk
	lost=$(info_of $f.stk '.totals.lost - ([.events[].lost_by.edge] | add)')
	[ "$lost" -eq 0 ] || fail "$f lost $lost events: nothing to compare"
done

# same WHAT MINIMUM JQ COMMAND ARGS...: both recordings give these lines.
same()
{
	what=$1 least=$2 select=$3
	shift 3
	for f in bpf ftrace; do
		"$STACKONCE" "$@" --json $f.stk >answer || fail "$what of $f.stk: $* ended with $?"
		jq -c "$select" answer | LC_ALL=C sort >$f.answer || fail "$what: jq"
	done
	[ "$(wc -l <bpf.answer)" -ge "$least" ] || fail "$what: only $(wc -l <bpf.answer) answers"
	diff bpf.answer ftrace.answer >differ || {
		head -n 20 differ
		fail "$what: $(grep -c '^[<>]' differ) lines of the answers differ"
	}
	note "$what: $(wc -l <bpf.answer) lines are equal"
}

same lives 15 'select(.comm == "forktree" or .comm == "pingpong" or .comm == "getppid") |
	[.type, .pid, .comm, .state, .how, .code, .signal, .parent, .parent_comm, .orphan, .reaped_with,
		.execs, .threads, .exec]' lifecycle --top 0
# By state and stack; who woke them is split by what an interrupt has hit.
for comm in pingpong forktree futexes; do
	same "off CPU, $comm" 1 'select(.kind == "group") | [.tid, .count, (.states | map_values(.count)),
		([.stacks[] | {count, key: [.state, [.frames[]? | [.sym, .off]]]}] | group_by(.key) |
		map([.[0].key, ([.[].count] | add)]))]' offcpu --by tid --stacks --comm $comm
done
same "futexes" 10 'select(.kind == "group") | [.address, .waits, .timeouts, .errors]' \
	futex --by address --comm futexes
same "futexes by place" 1 'select(.kind == "group") | [.op, .waits, .timeouts]' \
	futex --by site --comm futexes
same "system calls" 1 'select(.type == "group") | [.group, .count]' \
	latency --start syscalls:sys_enter_getppid --end syscalls:sys_exit_getppid --comm getppid --by tid

# Of events inside the BPF programs BPF has no fields, and says of how many: so many pairs may be
# missing there.
missing=$(info_of bpf.stk '[.events[].fields_missing] | add')
[ "$(info_of ftrace.stk '[.events[].fields_missing] | add')" -eq 0 ] || fail "ftrace lacks fields"
for f in bpf ftrace; do
	"$STACKONCE" latency --preset runqueue --by next_comm --json $f.stk | jq -r \
		'select(.type == "group" and (.group | test("=(pingpong|forktree|futexes)$"))) |
			"\(.group) \(.count)"' | sort >$f.pairs
done
[ "$(wc -l <ftrace.pairs)" -eq 3 ] || fail "run queue: $(cat ftrace.pairs)"
awk 'NR == FNR { bpf[$1] = $2; next } { print $1, bpf[$1] + 0, $2 }' bpf.pairs ftrace.pairs >pairs
[ "$(awk -v most="$missing" '$2 <= $3 && $3 - $2 <= most' pairs | wc -l)" -eq 3 ] || {
	cat pairs
	fail "run queue: counts differ by more than the $missing events without fields"
}
note "run queue: $(awk '{ n += $3 } END { print n }' pairs) pairs, with BPF $(awk '{ n += $2 }
	END { print n }' pairs) and $missing events without fields"
