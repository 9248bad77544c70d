#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Each of WALK_STACKS walked kernel stacks equals that of bpf_get_stack(): at every tracepoint of
# the kernel (in programs of both types), in timer samples, and at functions where kprobes are
# allowed.  Each of several starts covers a part of the tracepoints.  In the test machines the
# stacks are also compared while modules are loaded and unloaded, and while kretprobes or
# function_graph replace return addresses.  Prints the rows of the table in docs/kernel-walk.md.
# on request: ./run walk-check, which asks for millions of stacks
# timeout: 21600
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_rmap.sh
. "$LIVE/lib_rmap.sh"
# shellcheck source=tests/live/lib_walk.sh
. "$LIVE/lib_walk.sh"
cd "$work" || exit 1
need_tracefs

# The conditions of the test, and the functions whose return addresses are replaced.
conditions="nothing${LIVE_VM:+ modules kretprobes function_graph}"
functions='vfs_read vfs_write vfs_fsync_range do_filp_open handle_mm_fault kernel_clone'
parts=$(scale 8 4)
share=$((${WALK_STACKS:-$(scale 300000 30000)} / $(echo "$conditions" | wc -w)))

# begin CONDITION: establishes the condition
begin()
{
	case $1 in
	kretprobes)
		for f in $functions; do
			echo "r:walk_check/$f $f" >>"$tracefs/kprobe_events" || return 1
		done
		echo 1 >"$tracefs/events/walk_check/enable"
		;;
	function_graph)
		echo "$functions" >"$tracefs/set_ftrace_filter" &&
			echo function_graph >"$tracefs/current_tracer"
		;;
	esac
}

# end CONDITION: ends the condition
end()
{
	case $1 in
	kretprobes)
		echo 0 >"$tracefs/events/walk_check/enable" && echo >"$tracefs/kprobe_events"
		;;
	function_graph)
		echo nop >"$tracefs/current_tracer" && echo >"$tracefs/set_ftrace_filter"
		;;
	esac
}

restore()
{
	[ -n "${LIVE_VM:-}" ] || return 0
	end "$beside"
	remove_network_modules
	rmap_restore
}

# A test machine has a file system for the test at mnt; natively the load makes and mounts several.
cat >load <<'END'
exec >&2
set -e
if [ "$1" = modules ]; then
	sh comes_and_goes 3 &
fi
"$PROG/pingpong" "$2" 1 &
other=$!
"$PROG/pingpong" "$2" 0
wait $other
"$PROG/getppid" "$2"
"$PROG/forktree" 3 3 5
dd if=/dev/zero of=file bs=64k count=16 conv=fsync
tar -c "$PROG" 2>/dev/null | head -c 4000000 | gzip -1 >file
find /proc/self /proc/sys/kernel /sys/kernel/mm >file 2>&1 || :
"$PROG/manykinds" "$PWD"
if [ -n "$3" ]; then
	"$PROG/rmap_work" mnt "$3"
	dd if=/dev/zero of=mnt/file bs=64k count=16 conv=fsync
	cat mnt/file >file
	rm mnt/file
fi
for fs in btrfs ext4 xfs; do
	[ -z "$3" ] && command -v mkfs.$fs || continue
	rm -f image
	truncate -s 320M image
	mkfs.$fs -q image
	mkdir -p mnt
	mount -o loop image mnt
	"$PROG/manykinds" mnt
	umount mnt
done
rm -f file image
[ "$1" != modules ] || wait
END

# sum KEY: prints the sum over all starts under this condition.
sum()
{
	awk -v key="$1 " 'index($0, key) == 1 { n += $NF } END { printf "%.0f\n", n }' "$beside"
}

# grouped NUMBER: prints the number with commas.
grouped()
{
	echo "$1" | sed -e :a -e 's/^\([0-9]*[0-9]\)\([0-9]\{3\}\)/\1,\2/' -e ta
}

# systems_of: prints the number of systems of the tracepoints on stdin.
systems_of()
{
	cut -d : -f 1 | sort -u | wc -l
}

# row: prints the table row of the condition.
row()
{
	sed -n 's/^walked_at \(.*:.*\) .*/\1/p' "$beside" | sort -u >seen
	line="| $(uname -r | cut -d . -f 1,2) | $beside | $starts | $(wc -l <seen) of $(wc -l <all)"
	line="$line | $(systems_of <seen) of $(systems_of <all) |"
	for key in agreed walked_at_raw walked_at_function walked_at_sample differed unchecked \
		"no rule" "other text" "left the stack"; do
		line="$line $(grouped "$(sum "$key")") |"
	done
	note "$line"
}

# events of the system ftrace are only formats
(cd "$tracefs/events" && ls -d */*/) | sed 's|/$||; s|/|:|' | grep -v '^ftrace:' >all
if [ -n "${LIVE_VM:-}" ]; then
	network_modules
	rmap_set_up
fi
total=0
for beside in $conditions; do
	: >"$beside"
	starts=0
	begin "$beside" || fail "cannot establish the condition $beside"
	until [ "$starts" -ge "$parts" ] && [ "$(sum agreed)" -ge "$share" ]; do
		awk -v part=$((starts % parts)) -v parts="$parts" 'NR % parts == part' all >events
		probed_functions >>events
		compare_stacks events sh load "$beside" "$(scale 20000 2000)" "$group"
		! grep '^refused' walks || fail "some tracepoints were refused: $(cat err)"
		[ "$(value agreed)" -gt 0 ] || fail "no stack was compared: $(cat walks err)"
		cat walks >>"$beside"
		starts=$((starts + 1))
	done
	end "$beside" || fail "cannot end the condition $beside"
	row
	case $beside in
	modules) met=$(sum through_modules) ;;
	*) met=$(sum "no rule") ;;
	esac
	[ "$beside" = nothing ] || [ "$met" -gt 0 ] || fail "no stack was affected by $beside"
	total=$((total + $(sum agreed)))
done
note "$(grouped $total) stacks equal, under the conditions $conditions"
