#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# No stack is lost at 50 % and 90 % of the map's capacity.
# timeout: 120
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

"$PROG/../stackmap/stackmap_loss" "$(scale 5 1)"
