#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where one allocation fails, a command prints what it prints otherwise, or says so and fails: it
# never leaves out events.  Every STEPth allocation fails once.
#   no_memory.sh STACKONCE MAKE_RECORDING NO_MEMORY_SO STEP
set -u
stackonce=$(realpath "$1") make=$(realpath "$2") preload=$(realpath "$3") step=$4
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
record small addresses lifecycle stalls
last=small.stk # argument: the recording, or what is asked about it

if LD_PRELOAD=$preload "$stackonce" version 2>&1 | grep -q 'AddressSanitizer\|ThreadSanitizer'; then
	echo 'SKIPPED: the sanitizer has its own allocator'
	exit 77
fi

# wrong ARGS: of the command whose allocation $nr failed
wrong()
{
	fail "allocation $nr: stackonce $*"
	head -5 out err
}

# add_trace FILE: what is in a trace, but for its uuid, which is another one each time
add_trace()
{
	[ -d trace ] || return 0
	sed '/uuid = /d' trace/metadata >>"$1"
	for stream in trace/[!m]*; do
		tail -c +21 "$stream" >>"$1"
	done
	rm -r trace
}

# An allocation that does not exist cannot fail; some that do are not needed.
check()
{
	nr=0 in_a_row=0 seen=0
	"$stackonce" "$@" "$last" >want 2>err </dev/null || {
		grep 'built without' err && return
		wrong "$@"
	}
	add_trace want
	while [ $in_a_row -lt 40 ]; do
		nr=$((nr + step)) in_a_row=$((in_a_row + step))
		rm -f file
		LD_PRELOAD=$preload NO_MEMORY_AT=$nr "$stackonce" "$@" "$last" \
			>out 2>err </dev/null
		code=$?
		if [ $code -eq 0 ]; then
			add_trace out
			cmp -s want out || wrong "$@"
			continue
		fi
		in_a_row=0 seen=$((seen + 1))
		if [ $code -ne 1 ] || [ ! -s err ] ||
			{ [ -e file ] && ! grep -q "damaged block" err; }; then
			wrong "$@"
		fi
	done
	echo "$seen failures of $nr: stackonce $*"
	[ $seen -gt $((50 / step)) ] || wrong "$@"
}

check script --fields time,comm,event -e 'sched,nosuch' --comm 'bash,<idle>' --filter \
	'sym == "__schedule" && kstack ~ "*vfs*" || event ~ "*exec" || prev_comm ~ "b*"'
check report --no-symbols --json --top 0 --by comm,caller,prev_prio -e sched \
	--filter 'prev_prio > 1'
check report --no-symbols --json --weigh prev_prio --comm 'b*'
check report --print-sql --no-symbols --by comm,caller,prev_prio \
	--filter 'event ~ "*x" || prev_prio > 2' -e sched --filter 'prev_prio > 1 && sym == "x"'
check script --no-header --no-symbols
check report --no-symbols --json --kernel --by call_site -i addresses.stk
check export perfetto -q -o -
check export perfetto -q -o file
check export trace.dat --no-symbols -q -o file
check export firefox --no-symbols -q -o -
check export firefox --no-symbols -q -o file
check view --no-symbols -q -o file
check view --no-symbols -q -o - --pairs runqueue,offcpu --time 10%,90%
check export folded --no-symbols -q -o file
check export clickhouse --rows sched:sched_switch
check export clickhouse --rows stacks
check export clickhouse --tables
check export clickhouse --schema
check export ctf -q --force -o trace
check export pprof --no-symbols -q -o -
last=lifecycle.stk
check lifecycle --no-symbols
last=stalls.stk
check offcpu --no-symbols
check futex --no-symbols
last='SELECT prev_prio, count(*) FROM "sched:sched_switch" GROUP BY 1 ORDER BY 1'
check sql --csv -i small.stk
[ $failed -eq 0 ]
