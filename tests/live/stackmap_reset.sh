#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Stack ids belong to their generation, and a reset is refused while the map is held.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

"$PROG/../stackmap/stackmap_reset" "$(scale 50 5)"
