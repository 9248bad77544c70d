#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Real programs are stopped several times: for every thread, the stack of the context switch at the
# stop equals the one that gdb finds, frame by frame.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

need_tool gdb
gdb -batch -ex 'python print(1)' >/dev/null 2>&1 || skip "this gdb has no Python"
targets='' early=''

# target TIMES NAME: adds the last background job, which is to be stopped TIMES times.
target()
{
	test_pids="$test_pids $!"
	targets="$targets $!:$1:$2"
}

# cc1plus is a child of g++.
compiler=
restore()
{
	[ -z "$compiler" ] || ! is_child "$compiler" || pkill -KILL -P "$compiler"
}

cat >many.cc <<'END'
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
template <int N> std::string text(const std::string &s)
{
	std::regex r("(a|b)*" + std::to_string(N));
	std::map<std::string, std::function<std::string(int)>> m;
	m[s] = [&](int i) { return std::regex_replace(s, r, std::to_string(i)); };
	return m[s](N) + text<N - 1>(s);
}
template <> std::string text<0>(const std::string &s) { return s; }
int main() { std::cout << text<60>("abc"); }
END
cat >nested.py <<'END'
import sys, time
def nested(n):
    if n:
        return sorted([n], key=lambda x: nested(n - 1))
    time.sleep(float(sys.argv[2]))
    return sum(i * i for i in range(int(sys.argv[3])))
while True:
    nested(int(sys.argv[1]))
END
if command -v python3 >/dev/null; then
	python3 nested.py 5 0.05 2000 &
	target 5 python3
	# deeper than the limit, and interrupted: the mark for that takes the place of a frame
	python3 nested.py 100 0 1000000 &
	target 2 deep-python3
fi
if command -v node >/dev/null; then
	node -e 'const fs = require("fs");
		setInterval(() => JSON.stringify(fs.readdirSync("/usr/lib")), 20)' &
	target 2 node
fi
if command -v bash >/dev/null; then
	bash -c 'f() { for i in 1 2 3; do read -t 0.02 x </dev/zero; sleep 0.02; done; }
		while :; do f; done' 2>/dev/null &
	target 4 bash
fi
if [ -x /usr/sbin/sshd ]; then
	mkdir -p /run/sshd
	# an address of this process, and no port of outgoing connections
	ssh-keygen -q -t ed25519 -N '' -f key && exec /usr/sbin/sshd -D -h "$work/key" -p 22022 \
		-o "ListenAddress=127.$(($$ / 65536)).$(($$ / 256 % 256)).$(($$ % 256))" &
	target 1 sshd
fi
if command -v g++ >/dev/null && command -v pgrep >/dev/null; then
	g++ -O2 -std=gnu++17 -S many.cc -o many.s &
	compiler=$!
	test_pids="$test_pids $compiler"
	while_runs "$compiler" pgrep -P "$compiler" cc1plus >/dev/null || early=", no cc1plus seen"
	for p in $(pgrep -P "$compiler" cc1plus); do
		targets="$targets $p:6:cc1plus"
	done
fi
[ -n "$targets" ] || skip "none of the programs for this test is installed"

# shellcheck disable=SC2086 # an option and its value
record_bg -a $roomy --user-stacks -k mono -e sched:sched_switch -o gdb.stk

# runs PID: it is a child of this shell or of the compiler.
runs()
{
	is_child "$1" || { [ -n "$compiler" ] && pgrep -P "$compiler" | grep -qx "$1"; }
}

started='' running=''
for t in $targets; do
	if runs "${t%%:*}"; then
		running="$running ${t%:*}"
		started="$started ${t##*:}"
	else
		early="$early, ${t##*:} ended early"
	fi
done
[ -n "$running" ] || fail "all of the programs ended early"
export FRAMES_OUT="$work/looks" FRAMES_PIDS="${running# }"
rc=0
gdb -nx -batch -x "$LIVE/gdb_frames.py" >gdb.out 2>&1 || rc=$?
{ [ "$rc" -eq 0 ] && [ -e looks ]; } || {
	tail -n 20 gdb.out
	fail "gdb ended with $rc before it had all stacks"
}
stop_recorder
want_user gdb.stk
checked gdb gdb.stk looks
[ "$(number same)" -gt 0 ] || fail "no stack was compared"
at_most "not in the recording" "$(number unseen)" $(($(number stacks) / 10))
at_most "up to code without unwind information" "$(number no_cfi)" $(($(number stacks) / 10))
at_most "where gdb failed" "$(number gdb_lost)" $(($(number stacks) / 10))
# Where unwind information exists, 995 of 1000 stacks are complete; of fewer than 200, all.
want_complete "$(number stacks)" "$(number incomplete)" "$(number unreadable)" \
	$(($(number stacks) * 5 / 1000))
note "$(number stacks) stacks of$started: $(number same) equal, $(number cut) equal up to the" \
	"maximum depth, $(number no_cfi) up to code without unwind information," \
	"$(number gdb_lost) where gdb failed, $(number incomplete) incomplete, 0 wrong$early"
