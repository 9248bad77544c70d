#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# notices.sh STATUS COMMAND...: passes where the command ends with this status, by which it says that it
# has found something wrong; a crash is not that, nor a test that did not get as far.
want=$1
shift
"$@"
rc=$?
[ "$rc" -eq "$want" ] || echo "ended with status $rc, not $want"
[ "$rc" -eq "$want" ]
