#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On a locked-down kernel, the files of the map are refused like other files of tracefs.
# needs: variant=default smp=1 mem=512 alone
# timeout: 120
. "$TESTS/lib.sh"

grep -q ' /sys/kernel/security securityfs ' /proc/mounts ||
	mount -t securityfs none /sys/kernel/security
[ -e /sys/kernel/security/lockdown ] || skip "no lockdown"
dir=$tracefs
echo 1 >"$dir/options/stackmap"
files="trace"
for file in stack_map stack_map_stat stack_map_bin user_stack_map user_stack_map_stat \
	user_stack_map_bin file_map; do
	[ ! -e "$dir/$file" ] || files="$files $file"
done
for file in $files; do
	cat "$dir/$file" >/dev/null || fail "$file cannot be read before lockdown"
done
echo confidentiality >/sys/kernel/security/lockdown
refused=0
for file in $files; do
	if message=$(cat "$dir/$file" 2>&1 >/dev/null); then
		fail "$file can be read"
	fi
	case $message in
	*"Operation not permitted"*) refused=$((refused + 1)) ;;
	*) fail "$file: $message" ;;
	esac
done
if (echo 0 >"$dir/stack_map") 2>/dev/null; then
	fail "stack_map can be written"
fi
note "$refused files refused: $files"
