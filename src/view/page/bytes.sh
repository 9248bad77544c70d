#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# bytes.sh FILE: prints the file as the initializer of an array of bytes in C.
set -eu
od -An -v -tu1 "$1" | sed -e 's/^ *//' -e 's/  */,/g' -e 's/$/,/'
