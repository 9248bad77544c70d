#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page of `stackonce view` in a headless Chromium: of recordings, and with made data.
#   page.sh STACKONCE MAKE_RECORDING ROOT [PAGE]
set -u
[ $# -eq 4 ] || { echo "built without the page"; exit 77; }
stackonce=$(realpath "$1") make=$(realpath "$2") root=$(realpath "$3") page=$(realpath "$4")
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/unit/cmd/lib.sh
. "$here/../cmd/lib.sh"
node_dir=$(sh "$root/npm/fetch.sh" node) || exit
node=$node_dir/bin/node
"$node" -e 'process.exit(require(process.argv[1]).Browser.find() ? 0 : 1)' \
	"$root/tests/judges/chromium.js" || { echo "there is no chromium"; exit 77; }
record hostile losses
cp "$root/tests/golden/demo.stk" .
for name in demo hostile losses; do
	"$stackonce" view -q "$name.stk" || exit 1
done
"$stackonce" info --json demo.stk | jq .totals.recorded >demo.events
"$node" "$here/sample.js" "$page" sample.html || exit 1
"$node" "$here/page.js" "$root/tests/judges/chromium.js" "$page"
case $? in
0) ;;
77) incomplete=1 ;;
*) fail "the page" ;;
esac
finish
