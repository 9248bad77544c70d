#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Programs that are preempted and leave out of order do not mix up their stacks.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

"$PROG/../stackmap/stackmap_order" "$(scale 50 5)"
