#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# futex.after.sh DIR CONSOLE: every wait of the program has its user stack, with the offsets that
# the program printed, its path and its build id, and the report names the functions that waited.
set -u
# shellcheck source=kernel/tests/lib.sh
. kernel/tests/lib.sh
cd "$1" || exit 1

path=$(sed -n 's/^path //p' said)
build=$(sed -n 's/^build_id //p' said)
"$STACKONCE" stacks --json futex.stk >stacks.json || fail "stacks ended with $?"
"$STACKONCE" script --json --comm user_prog --event syscalls:sys_enter_futex futex.stk |
	jq -r .ustack >waits
n=$(wc -l <waits)
[ "$n" -eq 20 ] || fail "$n waits instead of 20"
id=$(sort -u waits)
[ "$(echo "$id" | wc -l)" -eq 1 ] || fail "waits at one place have several stacks: $id"
jq -r --argjson id "$id" 'select(.kind == "user" and .id == $id) | .frames[] |
	"\(.ip) \(.path) \(.build_id)"' stacks.json >found
sed -n 's/^frame 0*/0x/p' said | sed "s|$| $path $build|" >want
head -n "$(wc -l <want)" found | cmp -s - want || {
	diff want found
	fail "the frames differ from those that the program printed"
}
"$STACKONCE" report --event syscalls:sys_enter_futex futex.stk >report ||
	fail "report ended with $?"
for f in leaf three two one; do
	grep -q "$f" report || fail "the report does not name $f()"
done
