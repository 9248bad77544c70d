# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Signals for the processes that a script started, and for no others.

# is_child PID: PID is a running child of this shell, or of its parent shell in a subshell.  A shell
# reaps ended children whenever it waits for any process.  The kernel may then give the PID to
# another process, within seconds beside a fork storm: check a PID before it gets a signal.
is_child()
{
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	read -r self _ </proc/self/stat
	# shellcheck disable=SC2086 # state and parent follow the name, which may have blanks
	set -- ${stat##*) }
	[ "$1" != Z ] && { [ "$2" = "$$" ] || [ "$2" = "$self" ]; }
}

# end_child SIGNAL PID...: sends the signal to those that are running children, and waits for them.
end_child()
{
	with=$1
	shift
	for mine; do
		! is_child "$mine" || kill -"$with" "$mine" 2>/dev/null || :
		wait "$mine" 2>/dev/null || :
	done
}
