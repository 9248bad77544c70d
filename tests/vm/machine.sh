# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The size of a test machine; watches it from the host and adds up its results.  Needs
# tests/process.sh.

# machine_cpus NUMBER: prints it, if a machine can have as many CPUs.
machine_cpus()
{
	case $1 in
	'' | *[!0-9]* | 0* | ????*) ;;
	*)
		if [ "$1" -le 255 ]; then
			echo "$1"
			return
		fi
		;;
	esac
	echo "vm: VM_CPUS is '$1', must be a number from 1 to 255" >&2
	return 1
}

# machine_mb CPUS: prints the megabytes of the memory node with the CPUs: 768 for two, and what the
# rings of the tests need for each further one.
machine_mb()
{
	echo $((768 + ($1 > 2 ? $1 - 2 : 0) * 32))
}

# said DIR: the result lines on a machine's console; kernel messages may precede a result on its
# line.
said()
{
	tr -d '\r' <"$1/console" | grep -aoE '(ok  |skip|FAIL) [^ ]+ .*'
}

# progress DIR: changes when a test ends or the archive grows, but not on other messages, which a
# hanging kernel may still print.
progress()
{
	echo "$(said "$1" | wc -l) $(wc -c <"$1/archive")"
}

# watch_machine PID DIR LIMIT: kills the machine after LIMIT seconds without progress; returns when
# it has ended or was killed.
watch_machine()
{
	last=
	while is_child "$1"; do
		now=$(progress "$2" 2>/dev/null)
		if [ "$now" != "$last" ]; then
			last=$now
			end=$(($(date +%s) + $3))
		elif [ "$(date +%s)" -ge "$end" ]; then
			echo "vm: gave up: no result for $3 s" >>"$2/qemu.log"
			kill -KILL "$1"
			return
		fi
		sleep 1
	done
}

# unpack_archive DIR: unpacks the machine's archive from the second serial line into DIR.
unpack_archive()
{
	base64 -d "$1/archive" 2>/dev/null | tar -xzf - -C "$1" 2>/dev/null
}

# results_of: converts lines that tests/live/run.sh prints, from stdin.
results_of()
{
	awk -v OFS='\t' '{ n = $2; sub(/:$/, "", n) }
		$1 == "ok" { print n, "OK", 1, 0, 0 }
		$1 == "skip" { print n, "SKIP", 0, 0, 1 }
		$1 == "FAIL" { print n, "FAIL", 0, 1, 0 }'
}

# failed_to_end NAME DIR: for a machine that sent no archive: its results are those on the console
# and one failure.  Prints the end of the console.
failed_to_end()
{
	said "$2" | results_of >"$2/results"
	echo "$1: FAIL the machine ended before its tests did," \
		"$(wc -l <"$2/results") have results;" \
		"its console ends with"
	printf 'boot\tFAIL\t0\t1\t0\n' >>"$2/results"
	cat "$2/qemu.log"
	tail -n 30 "$2/console" | tr -d '\r' | sed 's/^/    /'
}

# summary FILE...: adds up results; a line is NAME<TAB>RESULT<TAB>PASSED<TAB>FAILED<TAB>SKIPPED.
summary()
{
	cat "$@" | awk -F '\t' '{ p += $3; f += $4; s += $5 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }'
}
