#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page of `stackonce view` in a headless Chromium, with made data.
#   page.sh ROOT [PAGE]
set -u
[ $# -eq 2 ] || { echo "built without the page"; exit 77; }
root=$(realpath "$1") page=$(realpath "$2") here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/unit/cmd/lib.sh
. "$here/../cmd/lib.sh"
node_dir=$(sh "$root/npm/fetch.sh" node) || exit
node=$node_dir/bin/node
"$node" -e 'process.exit(require(process.argv[1]).Browser.find() ? 0 : 1)' \
	"$root/tests/judges/chromium.js" || { echo "there is no chromium"; exit 77; }
"$node" "$here/sample.js" "$page" sample.html || exit 1
"$node" "$here/page.js" "$root/tests/judges/chromium.js" "$page" || fail "the page"
[ "$failed" -eq 0 ]
