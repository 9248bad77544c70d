#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# hostile.sh STACKONCE TRACE_BOMBS STEP CORPUS...: runs every reading command on the fuzzing corpus
# and on recordings that exceed the budget, with the program as built for users; of these runs every
# STEPth.  Whatever it prints, it must exit by itself, within 300 MB and 2 seconds of CPU time, and
# most commands must succeed once: the corpus has no events that some of them need.
set -u
so=$(realpath "$1")
make=$2
step=$3
shift 3
dir=$(mktemp -d "${TMPDIR:-/tmp}/hostile.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work"
: >"$dir/succeeded"

"$make" "$dir" >"$dir/sizes" || exit 1
set -- "$@" "$dir"
for corpus; do
	realpath "$corpus"/*.stk
done >"$dir/files"

# the commands of the fuzz targets, see tests/fuzz/fuzz_command.c
cat >"$dir/commands" <<'LIST'
info --json
stacks --json
files --json
lifecycle --stacks
lifecycle --json --threads --tree
latency --preset runqueue
latency --start * --end * --by event,comm,pid --stacks
latency --start * --end * --flamegraph -
futex --stacks
futex --by address --json
offcpu --stacks
offcpu --by state --flamegraph -
report --json --by comm,pid,tid,cpu
report --tree --min 0
report --callees --json
report --flamegraph -
annotate --children __schedule -i
annotate --json --user main -i
diff --all --bin 0.001
diff --all --bin 0.001 --by function --json
report --flat --by sym,caller,file
report --by prev_comm,event --weigh prev_pid:p99 --tree
report --weigh prev_pid:hist --json
report --flat=library --fold idle,interrupts,guesses
report --print-sql --by prev_comm
diff --flamegraph -
diff --latency *,* --json
script --ns
script --json --stacks
script --filter kstack~"*a?b*"||ustack~"*c*"||task.comm~"*d*"||event~"*e*"||stack_id==1
report --time 10%,90% --comm *a*b* --filter kstack!="x"&&event.time>1
sql SELECT/**/*/**/FROM/**/events; -i
sql --json SELECT/**/*,stack(id)/**/FROM/**/stacks; -i
view -o -
view -o - --start * --end * --match cpu --time 10%,90%
export fsmb -o -
export fsmb1 -o -
export perfetto -o -
export trace.dat -o -
export firefox --by cpu,sym -o -
export ctf --force -o trace
export folded --by comm,sym -o -
export pprof --fold idle,guesses -o -
export speedscope --by comm,sym -o -
export clickhouse --schema
export clickhouse --rows stacks
export clickhouse --rows frames
export clickhouse --rows sched:sched_switch
LIST

failed=0
nr=0
skip=0
while read -r file; do
	while read -r command; do
		skip=$(((skip + 1) % step))
		[ "$skip" -eq 0 ] || continue
		other=
		[ "${command%% *}" != diff ] || other=$file
		# printing millions of events takes as long as the output is read: limit it
		{
			rc=0
			(
				cd "$dir/work"
				set -f
				# shellcheck disable=SC2086 # words
				exec "$LIMITED" "$so" $command ${other:+"$other"} "$file"
			) 2>"$dir/err" </dev/null || rc=$?
			echo "$rc" >"$dir/rc"
		} | head -c 1000000 >"$dir/out"
		read -r rc <"$dir/rc"
		nr=$((nr + 1))
		[ "$rc" -ne 0 ] || echo "$command" >>"$dir/succeeded"
		[ "$rc" -le 1 ] && continue
		echo "not ok $command ${file##*/}: exit $rc"
		head -n 2 "$dir/err"
		failed=$((failed + 1))
	done <"$dir/commands"
done <"$dir/files"
wanted=$(($(wc -l <"$dir/commands") * 3 / 4))
sort -u "$dir/succeeded" >"$dir/some"
if [ "$(wc -l <"$dir/some")" -lt "$wanted" ]; then
	echo "not ok: $(wc -l <"$dir/some") commands succeed, not $wanted"
	failed=$((failed + 1))
fi
echo "$nr runs, $failed failed"
[ "$nr" -gt 0 ] && [ "$failed" -eq 0 ]
