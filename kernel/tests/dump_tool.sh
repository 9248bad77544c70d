# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154 # $tracefs, $OUT, $TESTS
# timeout: 180
# Exports stack_map_bin and user_stack_map_bin, and what tracefs prints for the same stacks.  On the
# host, stackmap-dump with vmlinux must produce the same text (dump_tool.after.sh).
# shellcheck source=kernel/tests/lib.sh
. "$TESTS/lib.sh"

cd "$tracefs" || fail "no tracefs"
echo 1 >options/stackmap
echo 1 >options/stacktrace
if [ -e user_stack_map ]; then
	echo 1 >options/userstacktrace
fi

# frames in a module, and in interrupt handlers
insmod /live/prog/brd.ko rd_nr=1 rd_size=1024 || fail "no module brd"
events . sched/sched_switch sched/sched_waking sched/sched_process_fork kmem/mm_page_alloc \
	timer/hrtimer_expire_entry
dd if=/dev/zero of=/dev/ram0 bs=4096 count=20 2>/dev/null
sync
for _ in 1 2 3 4 5; do
	sort </proc/self/maps >/dev/null
	sleep 0.1
done
echo 0 >events/enable

# and in ftrace's own code
echo 'vfs_read' >set_ftrace_filter
echo function >current_tracer || fail "no function tracer"
echo 1 >options/func_stack_trace
cat /proc/self/maps >/dev/null
echo nop >current_tracer
echo 0 >tracing_on

for f in stack_map user_stack_map; do
	[ -e "$f" ] || continue
	cat "$f" >"$OUT/$f" || fail "$f cannot be read"
	cat "${f}_bin" >"$OUT/${f}_bin" || fail "${f}_bin cannot be read"
	[ "$(grep -c '^stack_id' "$OUT/$f")" -gt 0 ] || fail "$f has no stacks"
done
[ ! -e file_map ] || cat file_map >"$OUT/file_map" || fail "file_map cannot be read"
cat /proc/kallsyms >"$OUT/kallsyms"
cat stack_map_stat >"$OUT/stat"
uname -r >"$OUT/release"
rmmod brd
grep -q '\[brd\]$' "$OUT/stack_map" || fail "no stack goes through the module"
# The function tracer is called through a trampoline that ftrace has made for it, as nobody else
# traces this function; its own functions are left out, the trampoline is not.
awk '$2 == "[FTRACE" && $1 == "[0]" { at = NR } NR == at + 1 && $2 ~ /^vfs_read[+]/ { found = 1 }
	END { exit !found }' "$OUT/stack_map" || fail "no trampoline of ftrace above vfs_read"
note "$(grep -c '^stack_id' "$OUT/stack_map") stacks," \
	"$(grep -c '\[brd\]$' "$OUT/stack_map") frames of a module"
