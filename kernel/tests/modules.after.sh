#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modules.after.sh DIR CONSOLE: in JSON, stackmap-dump marks the stacks of a module that is gone.
set -u
# shellcheck source=kernel/tests/lib.sh
. kernel/tests/lib.sh
cd "$1" || exit 1

"$KERNEL_IMAGE/stackmap-dump" --json bin-gone >json || fail "as JSON: $?"
jq -r 'select(.type == "stack") | "\(.stack_id) \(.gone // false)"' json | sort >marks ||
	fail "not JSON"
awk 'function out() { if (id) print id, gone ? "true" : "false" }
	/^stack_id/ { out(); id = $2; gone = 0 }
	/, unloaded\]$/ { gone = 1 }
	END { out() }' map-gone | sort >known
gone=$(grep -c ' true$' known)
[ "$gone" -gt 0 ] || fail "no stack of a module that is gone"
cmp -s known marks || fail "other stacks are marked: $(diff known marks | head -n 4 | xargs)"
echo "# $gone of $(wc -l <known) stacks are marked as gone"
