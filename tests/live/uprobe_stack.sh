#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On a kernel that lets preempted probes in programs overwrite each other's stack, doctor has a row,
# and record warns where such probes are used, and only there.  The kernel is this one, with a
# changed description of its types in a mount namespace.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

btf=/sys/kernel/btf/vmlinux
unshare -m true 2>/dev/null || skip "mount namespaces are unavailable"
# The kernels of the test machines have no private stacks; they get the one name that is missed.
grep -q priv_stack_ptr $btf || skip "the programs of this kernel have no private stacks"
sed 's/might_sleep/might_snore/g' $btf >types
cat >with_types <<'END'
mount --bind types /sys/kernel/btf/vmlinux && exec "$@"
END

# said FILE: whether it has the warning.
said()
{
	grep -q "^stackonce: .*overwrite each other's stack" "$1"
}

"$STACKONCE" doctor --json >here.json
jq -es 'any(.[]; .name == "uprobe_stack" and .ok)' here.json >/dev/null ||
	fail "doctor: $(grep uprobe_stack here.json)"
unshare -m sh with_types "$STACKONCE" doctor --json >there.json
jq -es 'any(.[]; .name == "uprobe_stack" and (.ok | not))' there.json >/dev/null ||
	fail "doctor on the other kernel: $(grep uprobe_stack there.json)"
want_json doctor there.json

probe=u:$PROG/probed:leaf
"$STACKONCE" record -e "$probe" -d 0.1 -a -o here.stk 2>err || fail "record: $(cat err)"
! said err || fail "record warns on this kernel"
unshare -m sh with_types "$STACKONCE" record -e "$probe" -d 0.1 -a -o there.stk 2>err ||
	fail "record on the other kernel: $(cat err)"
said err || fail "record does not warn of probes in programs: $(cat err)"
unshare -m sh with_types "$STACKONCE" record -e sched:sched_switch -d 0.1 -a -o there.stk 2>err ||
	fail "record on the other kernel: $(cat err)"
! said err || fail "record warns without a probe in a program"
note "doctor and record warn of the stack of preempted probes"
