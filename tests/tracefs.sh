# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2120
# Mounts tracefs for as long as a script needs it, and unmounts it only if the script mounted it.
# Arguments are put before the command, to run it as root.

tracefs=/sys/kernel/tracing
tracefs_mounted=

tracefs_mount()
{
	[ -d "$tracefs/events" ] && return
	if "$@" mount -t tracefs nodev "$tracefs" 2>/dev/null; then
		tracefs_mounted=1
	fi
}

tracefs_unmount()
{
	[ -z "$tracefs_mounted" ] || "$@" umount "$tracefs" 2>/dev/null || :
	tracefs_mounted=
}
