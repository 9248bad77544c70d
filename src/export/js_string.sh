#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# js_string.sh FILE: prints the script as a C string, without indentation and without comments
# except the licence.
set -eu
sed -e 's/^[[:space:]]*//' -e '2,$ { /^\/\//d; }' -e '/^$/d' \
	-e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$/\\n"/' "$1"
