# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Signals only processes that the script started.

# is_child PID: whether PID is a running child of this shell or, in a subshell, of its parent shell.
# A shell reaps ended children whenever it waits for any process.  The kernel may then reuse the
# PID, within seconds during a fork storm: check a PID before sending it a signal.
is_child()
{
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	read -r self _ </proc/self/stat
	# shellcheck disable=SC2086 # state and parent follow the name, which may have blanks
	set -- ${stat##*) }
	[ "$1" != Z ] && { [ "$2" = "$$" ] || [ "$2" = "$self" ]; }
}

# end_child SIGNAL PID...: sends the signal to each that is a running child, and waits for it.
end_child()
{
	with=$1
	shift
	for mine; do
		! is_child "$mine" || kill -"$with" "$mine" 2>/dev/null || :
		wait "$mine" 2>/dev/null || :
	done
}
