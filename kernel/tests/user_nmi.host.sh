#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# user_nmi.host.sh MONITOR CONSOLE: sends NMIs to the machine, as for the test nmi.
exec sh kernel/tests/nmi.host.sh "$@"
