#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Keeps the formats and types of this kernel's tracepoints, for the unit tests of the fields that
# programs fill themselves.
# on request: tests/unit/data/native/make.sh, which runs it in the test machines
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"
cd "$work" || exit 1
[ -n "${LIVE_OUT:-}" ] || skip "there is no place to keep them"
mkdir -p "$LIVE_OUT/keep"
# Files of tracefs have no size, so they are copied before they are packed.
mkdir formats
for f in "$tracefs"/events/*/*/format; do
	event=${f#"$tracefs/events/"}
	event=${event%/format}
	cat "$f" >"formats/${event%/*}.${event#*/}.format"
done
tar -czf "$LIVE_OUT/keep/formats.tgz" formats
gzip -c /sys/kernel/btf/vmlinux >"$LIVE_OUT/keep/vmlinux.btf.gz"
