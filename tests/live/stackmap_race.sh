#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Two CPUs insert the same crafted stacks of every depth; every event is checked.
# timeout: 120
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

"$PROG/../stackmap/stackmap_race" "$(scale 50000 1000)"
