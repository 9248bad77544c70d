#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# nmi.host.sh MONITOR CONSOLE: sends NMIs to the machine until the harness ends it after the test.
while echo nmi >"$1"; do
	sleep 0.05
done
