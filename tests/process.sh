# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Which processes are still those that a script started.

# is_child PID: a child of this shell, or of the one that it is a part of, that has not ended.  Shells take
# note of the end of a child whenever they wait for any; from then on its number may be another process's,
# beside a fork storm within seconds, and must be neither killed nor waited for.
is_child()
{
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
	read -r self _ </proc/self/stat
	# shellcheck disable=SC2086 # state and parent follow the name, which may have blanks
	set -- ${stat##*) }
	[ "$1" != Z ] && { [ "$2" = "$$" ] || [ "$2" = "$self" ]; }
}

# end_child SIGNAL PID...: ends those that run, and waits for them.
end_child()
{
	with=$1
	shift
	for mine; do
		! is_child "$mine" || kill -"$with" "$mine" 2>/dev/null || :
		wait "$mine" 2>/dev/null || :
	done
}
