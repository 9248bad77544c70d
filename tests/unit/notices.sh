#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# notices.sh STATUS COMMAND...: passes if the command exits with STATUS, which means that it has
# found an error; a crash does not count, nor does a test with too little coverage.
want=$1
shift
"$@"
rc=$?
[ "$rc" -eq "$want" ] && exit
echo "exit status $rc, not $want"
exit 1
