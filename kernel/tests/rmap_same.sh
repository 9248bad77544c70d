# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2016 # $work, $PROG, $STACKONCE
# needs: variant=bpf live
# timeout: 240
# Records the same walks of the reverse map twice at the same time: from the kernel's own
# tracepoints through the ftrace backend, and as the emulated events that stackonce uses where a
# kernel lacks them.  A mount namespace hides the tracepoints from the second recorder.
export LIVE=/live PROG=/live/prog STACKONCE=/usr/bin/stackonce LIVE_OUT="$OUT" LIVE_REASON="$REASON"
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_rmap.sh
. "$LIVE/lib_rmap.sh"
cd "$work" || exit 1

restore()
{
	rmap_restore
}

# until_recording NAME PID: waits until its recorder has attached.
until_recording()
{
	for _ in $(seq 600); do
		[ ! -e "$1.ready" ] || return 0
		kill -0 "$2" 2>/dev/null || break
		sleep 0.1
	done
	cat "$1.err"
	fail "the recorder of $1 did not start"
}

# groups FILE: the walks of the workload by page type and lock, as `latency` counts them.
groups()
{
	"$STACKONCE" latency --preset rmap --pid "$pid" --json "$1" >"$1.json" || fail "latency $1"
	jq -r 'select(.type == "group") | "\(.group) \(.count)"' "$1.json" | sort
}

# walks FILE: the walks of the workload in order, as text.
walks()
{
	"$STACKONCE" script --no-stacks --pid "$pid" --event 'rmap:*' "$1" |
		sed -n 's/.*: \(rmap_walk_[a-z]*: \)/\1/p'
}

[ -d "$tracefs/events/rmap" ] || fail "this kernel has no tracepoints of its own"
rmap_set_up

grep -v '^rmap:' "$tracefs/available_events" >events
mkdir none
unshare -m sh -c '
	mount --bind none "$1/events/rmap" && mount --bind events "$1/available_events" || exit 1
	exec "$2" record -q -a --no-user-stacks --preset rmap -o made.stk -- sh -c "
		touch made.ready
		while [ ! -e over ]; do sleep 0.1; done"
	' sh "$tracefs" "$STACKONCE" >made.err 2>&1 &
made=$!
test_pids="$test_pids $made"
until_recording made "$made"

"$STACKONCE" record -q --backend ftrace -a --no-user-stacks --preset rmap -o own.stk -- \
	"$PROG/rmap_work" mnt "$group" >own.out 2>own.err || {
	cat own.out own.err
	fail "the recording by ftrace failed"
}
touch over
wait "$made" || {
	cat made.err
	fail "the recording by BPF failed"
}
pid=$(sed -n 's/^pid //p' own.out)
cp own.stk made.stk "$OUT/"

info_true made.stk 'any(.events[]; .name == "rmap:rmap_walk_start" and .kind == "emulated")' ||
	fail "made.stk has no emulated events"
groups own.stk >own.groups
groups made.stk >made.groups
cat own.groups
[ -s own.groups ] || fail "there are no walks"
cmp -s own.groups made.groups || {
	diff own.groups made.groups
	fail "the answers differ"
}
walks own.stk >own.walks
walks made.stk >made.walks
[ -s own.walks ] && cmp -s own.walks made.walks || {
	diff own.walks made.walks | head -n 10
	fail "the walks differ"
}
for what in anon file ksm; do
	grep -q "page_type=$what " own.groups || fail "no walk of $what"
done
note "$(wc -l <own.walks) starts and ends, the same from tracepoints and from probes"
