#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Other languages and C libraries: C++ during exceptions, Rust during panics, musl, Go.  Programs
# whose compiler was missing in the build are named and left out.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
# shellcheck source=tests/live/lib_user.sh
. "$LIVE/lib_user.sh"
cd "$work" || exit 1

rounds=$(scale 100 15 300)
mkdir truth musl
export PROBE_DIR="$work/truth"
left_out=
# with PROGRAM WHAT FIRST-ARGS ARGS: runs the program, first with FIRST-ARGS and little work until
# its table is loaded, later with ARGS.
with()
{
	if [ -x "$user/$1" ]; then
		until_loaded langs.stk "$1" "'$user/$1' $3" >>all
		echo "\"$user/$1\" $4 || exit 1" >>rest
	else
		left_out="$left_out, no $2"
	fi
}
: >all
with uexcept C++ 1 "$rounds"
with uexcept_s "static C++" 1 "$rounds"
with urust Rust 1 "$rounds"
with ugo Go 1 "$rounds"
for p in ut_musl ut_musl_s; do
	with $p musl "musl 5 5 1 5" "musl $rounds 20 $(scale 3 1) 50"
done
[ -s all ] || skip "built with a C compiler only"
cat rest >>all
# shellcheck disable=SC2086 # an option and its value
record $roomy -F "$(scale 999 199)" -e syscalls:sys_enter_futex -e syscalls:sys_exit_futex \
	-e sched:sched_switch -o langs.stk -- sh all
want_user langs.stk
result=
if grep -q -e uexcept -e urust all; then
	checked probes langs.stk truth
	at_least probes "$(number probes)" "$rounds"
	want_complete "$(number probes)" "$(number incomplete)" "$(number unreadable)"
	result="$(number probes) stacks of C++ and Rust right"
fi
if grep -q ut_musl all; then
	checked paths langs.stk musl ut_musl
	# In an emulated machine the first process may exit before its loader has been opened: its
	# stacks, about 70, are then marked as incomplete.
	if [ "${LIVE_VM:-}" ]; then
		at_least stacks "$(number stacks)" 1
		at_most incomplete "$(number incomplete)" 200
	else
		want_complete "$(number stacks)" "$(number incomplete)" "$(number unreadable)"
	fi
	result="$result, musl"
fi
if grep -q ugo all; then
	checked go langs.stk
	at_least "calls of Go" "$(number calls)" $((rounds * 4))
	at_least "stacks of Go down to runtime.goexit" "$(number to_goexit)" \
		$((rounds * 4 * 95 / 100))
	result="$result, Go: $(number to_goexit) of $(number calls) down to runtime.goexit"
fi
note "$result$left_out"
