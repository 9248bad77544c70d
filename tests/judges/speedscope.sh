#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What export speedscope writes, as speedscope's own schema demands it and as speedscope reads it.
#   speedscope.sh STACKONCE MAKE_RECORDING GOLDEN_DIR
set -eu
here=$(dirname "$0")
python=
for candidate in python3 /usr/bin/python3; do
	"$candidate" -c 'import jsonschema' 2>/dev/null && python=$candidate && break
done
if [ -z "$python" ]; then
	echo "skipped: there is no python3-jsonschema"
	exit 77
fi
if ! command -v chromium >/dev/null; then
	echo "skipped: there is no chromium"
	exit 77
fi
dirs=$(sh "$here/../../npm/fetch.sh" node speedscope) || exit $?
# shellcheck disable=SC2086 # two directories
exec "$python" "$here/speedscope.py" "$@" $dirs
