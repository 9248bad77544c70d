#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# vm_machine.sh MACHINE-FUNCTIONS: how large a test machine is, when it is killed for lack of
# progress, and which results it then has, with a made-up machine and clock
set -u

work=$(mktemp -d)
trap '[ -z "$machine" ] || end_child TERM "$machine"; rm -rf "$work"' EXIT
machine=
# shellcheck source=tests/process.sh
. "$(dirname "$1")/../process.sh"
# shellcheck source=tests/vm/machine.sh
. "$1"
clock=0

failed()
{
	printf 'FAILED: %s\n' "$*"
	exit 1
}

date()
{
	echo "$clock"
}

# wanted WANTED COMMAND...: the command prints this.
wanted()
{
	said=$1
	shift
	printed=$("$@" 2>/dev/null) || :
	[ "$printed" = "$said" ] || failed "$* prints '$printed', not '$said'"
}

wanted 1 machine_cpus 1
wanted 64 machine_cpus 64
wanted 255 machine_cpus 255
for number in 0 256 1000 -1 2x x '' ' ' 08; do
	wanted '' machine_cpus "$number"
	! machine_cpus "$number" 2>/dev/null || failed "a machine has '$number' CPUs"
done
wanted 768 machine_mb 1
wanted 768 machine_mb 2
wanted 2752 machine_mb 64

# Each second of the machine is one call of $does.
sleep()
{
	clock=$((clock + $1))
	"$does"
}

end_machine()
{
	kill "$machine"
	wait "$machine" 2>/dev/null
}

# watched FUNCTION: watches a machine whose $does it is, with a limit of 10 s.
watched()
{
	does=$1
	: >"$work/console"
	: >"$work/archive"
	: >"$work/qemu.log"
	began=$clock
	tail -f /dev/null &
	machine=$!
	watch_machine "$machine" "$work" 10
	wait "$machine" 2>/dev/null
	machine=
	took=$((clock - began))
}

slow()
{
	[ $((clock % 9)) -ne 0 ] || printf 'ok   test%s (9.0 s) \r\n' "$clock" >>"$work/console"
	[ $((clock - began)) -lt 100 ] || end_machine
}
watched slow
[ "$took" -eq 100 ] || failed "a machine with a result each 9 s is killed after $took s"
[ ! -s "$work/qemu.log" ] || failed "the log says that it was killed"

sends()
{
	[ $((clock - began)) -lt 50 ] || end_machine
	echo more >>"$work/archive"
}
watched sends
[ "$took" -eq 50 ] || failed "a machine that sends its archive is killed after $took s"

hangs()
{
	[ $((clock - began)) -ne 3 ] ||
		printf 'ok   one (1.0 s) x\r\nskip two: no x\r\nFAIL three: x\r\n' \
			>>"$work/console"
	echo "rcu: INFO: rcu_preempt self-detected stall on CPU" >>"$work/console"
	[ $((clock - began)) -lt 100 ] || end_machine
}
watched hangs
[ "$took" -lt 20 ] || failed "a hanging machine is killed after $took s"
grep -q 'gave up' "$work/qemu.log" || failed "the log does not say that it was killed"
failed_to_end name "$work" >"$work/printed"
grep -q 'name: FAIL .* 3 have results' "$work/printed" ||
	failed "results: $(cat "$work/printed")"
printf '%s\t%s\t%s\t%s\t%s\n' one OK 1 0 0 two SKIP 0 0 1 three FAIL 0 1 0 boot FAIL 0 1 0 \
	>"$work/wanted"
cmp "$work/wanted" "$work/results" || failed "the results are $(cat "$work/results")"
