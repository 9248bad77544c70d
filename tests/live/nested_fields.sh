#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# For a sched event that is nested in the program of another one, the recorder builds the record
# from the tracepoint's arguments.  It equals the kernel's record byte for byte, for every event
# that the recorder supports on this kernel.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1

"$STACKONCE" doctor --json >doctor.json || :
want_json doctor doctor.json
jq -es 'any(.[]; .name == "nested_fields" and .ok)' doctor.json >/dev/null ||
	fail "doctor has no working nested_fields: $(grep nested_fields doctor.json)"
cat >work.sh <<EOF
i=0
while [ \$i -lt $(scale 400 40) ]; do
	i=\$((i + 1))
	$PROG/sleeper 5 >/dev/null
	nice -n \$((i % 20)) true
	(true; false) | cat | sleep 0.001
done
EOF
"$PROG/nested_fields" sh work.sh >out
rc=$?
[ $rc -eq 0 ] || {
	cat out
	fail "records differ"
}
[ "$(grep -vc '^#' out)" -ge 8 ] || fail "fewer than eight event types: $(cat out)"
awk '!/^#/ && $2 < 40 { exit 1 }' out || fail "too few records were compared: $(cat out)"
awk '!/^#/ && $4 > 0 { exit 1 }' out || fail "some records could not be built: $(cat out)"
note "$(awk '!/^#/ { n += $2; changed += $5 }
	END { print n, "records equal,", changed, "changed meanwhile" }' out)"
