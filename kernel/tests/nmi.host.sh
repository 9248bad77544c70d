#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nmi.host.sh MONITOR CONSOLE: NMIs for the machine until the test is over and this is ended.
while echo nmi >"$1"; do
	sleep 0.05
done
