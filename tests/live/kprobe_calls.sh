#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# f: and r: of kernel functions that a program calls a known number of times: the recording has as
# many events, with the arguments named as in the kernel's type information, and the return values.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

calls=$(scale 3000 400)
cp "$PROG/fallocate" work || exit 1

"$STACKONCE" record -q -o try.stk -e f:vfs_fallocate true 2>refused || {
	grep -q 'this kernel refuses probes on its functions' refused || {
		cat refused
		fail "f:vfs_fallocate cannot be recorded although the kernel does not refuse it"
	}
	skip "this kernel refuses probes on its functions"
}

# want_count FILE EVENT HAPPENED RECORDED: checks the counters.  Calls of other processes have
# happened, too, and are left out; of one on the edge of the recording the process is unknown.
want_count()
{
	edge=$(edge_of "$1" "$2")
	others=$(counted "$1" "$2" filtered_by.pid)
	for what in "happened $(($3 + others + edge))" "recorded $4" \
		"filtered $(($3 - $4 + others))" "lost $edge"; do
		n=$(counted "$1" "$2" "${what% *}")
		[ "$n" -eq "${what#* }" ] || fail "$2: $n ${what% *}, ${what#* } expected"
	done
}

# values FILE GLOB: prints the events' fields without the function and pointers
values()
{
	"$STACKONCE" script --no-stacks --no-header --event "$2" "$1" |
		sed 's/.*: ([a-z_]*) //; s/file=0x[0-9a-f]* //'
}

record -o calls.stk -e f:vfs_fallocate -e r:vfs_fallocate -e f:__x64_sys_getcwd \
	-e r:__x64_sys_getcwd ./work file "$calls"
cp record.out printed
want_sum calls.stk
for e in f:vfs_fallocate r:vfs_fallocate; do
	want_count calls.stk $e "$calls" "$calls"
done
for e in f:__x64_sys_getcwd r:__x64_sys_getcwd; do
	want_count calls.stk $e $((2 * calls)) $((2 * calls))
done
# in the order of the calls
values calls.stk 'f:vfs_fallocate' >got
grep mode= printed | cmp - got || fail "the arguments differ from the program's"
values calls.stk 'r:vfs_fallocate' >got
grep ret= printed | cmp - got || fail "the return values differ from the program's"
[ "$(values calls.stk 'r:__x64_sys_getcwd' | grep -c 'ret=-34$')" -eq "$calls" ] ||
	fail "not $calls calls of getcwd() returned -ERANGE"

# The function itself is the innermost frame at its entry, but not at its return.
for e in f r; do
	"$STACKONCE" script --no-header --event "$e:vfs_fallocate" calls.stk |
		awk '!/^( =>|<)/ { top = 1; next }
			top && sub(/\+0x.*/, "", $2) { print $2 }
			{ top = 0 }' |
		sort | uniq -c >tops
	[ "$(wc -l <tops)" -eq 1 ] || {
		cat tops
		fail "$e:vfs_fallocate: the innermost frames differ"
	}
	case $e$(awk '{ print $1, $2 }' tops) in
	"f$calls vfs_fallocate" | "r$calls "*fallocate) ;;
	*)
		cat tops
		fail "$e:vfs_fallocate: the innermost frame is wrong"
		;;
	esac
done
grep -q 'vfs_fallocate' tops && fail "r:vfs_fallocate: the function that returned is in the stacks"

# Filters: events that do not match are counted as happened, too.
record -o filtered.stk -e f:vfs_fallocate --filter 'offset < 0' -e r:vfs_fallocate \
	--filter 'ret == -22' ./work file "$calls"
want_sum filtered.stk
want_count filtered.stk f:vfs_fallocate "$calls" $((calls / 5))
want_count filtered.stk r:vfs_fallocate "$calls" $((calls / 5))

# A glob stands for those functions that can be probed, with as many events as each alone.
record -o glob.stk -e 'f:vfs_f*' ./work file "$calls"
want_sum glob.stk
[ "$(info_of glob.stk '.events | length')" -gt 3 ] ||
	fail "f:vfs_f* stands for fewer than four functions"
[ "$(counted glob.stk f:vfs_fallocate recorded)" -eq "$calls" ] ||
	fail "f:vfs_f* does not record $calls events of vfs_fallocate"
# Stacks at the entry of a function are walked where the program gets all registers.
walked=$(info_of glob.stk .kernel_unwind.walked)
if info_true glob.stk '.kernel_unwind.by == "kernel"'; then
	walked=none
elif [ "$walked" -eq 0 ]; then
	fail "no stack was walked: $(info_of glob.stk .kernel_unwind)"
fi
note "$((6 * calls)) calls, all with the program's values;" \
	"f:vfs_f* stands for $(info_of glob.stk '.events | length') functions;" \
	"$walked stacks walked of $(info_of glob.stk .totals.recorded)"
