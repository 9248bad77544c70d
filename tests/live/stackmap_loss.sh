#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The stack map loses no stack at 50 % and 90 % of its capacity.
# shellcheck source=tests/live/lib.sh
. "$LIVE/lib.sh"

"$PROG/../stackmap/stackmap_loss" "$(scale 5 1)"
