# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Looking after a test machine from outside, and adding up what it brought.

# watch_machine PID DIR LIMIT: ends the machine when its seconds are up; returns when it has ended.
watch_machine()
{
	end=$(($(date +%s) + $3))
	while kill -0 "$1" 2>/dev/null; do
		if [ "$(date +%s)" -ge "$end" ]; then
			echo "vm: gave up after $3 s" >>"$2/qemu.log"
			kill -KILL "$1"
		fi
		sleep 1
	done
}

# unpack_archive DIR: what the machine sent through its second serial line goes into DIR.
unpack_archive()
{
	base64 -d "$1/archive" 2>/dev/null | tar -xzf - -C "$1" 2>/dev/null
}

# failed_to_end NAME DIR: a machine that brought no results, and how its console ends.
failed_to_end()
{
	echo "$1: FAIL the machine brought no results; its console ends with"
	cat "$2/qemu.log"
	tail -n 30 "$2/console" | tr -d '\r' | sed 's/^/    /'
}

# summary FILE...: adds up results; a line is NAME<TAB>RESULT<TAB>PASSED<TAB>FAILED<TAB>SKIPPED.
summary()
{
	cat "$@" | awk -F '\t' '{ p += $3; f += $4; s += $5 }
		END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }'
}
