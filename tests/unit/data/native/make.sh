#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# make.sh BUILD: makes the files beside it, what the rows of native events need of the types and
# formats of three kernels: Debian's two in the test machines, and the running one, which is called
# after its version.  After a new row or a new kernel, look at the differences.
set -eu
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."
# shellcheck source=tests/tracefs.sh
. tests/tracefs.sh
tmp=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-native.XXXXXX")
trap 'tracefs_unmount; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# reduce NAME KEPT: KEPT is what the live test native_formats keeps.
reduce()
{
	rm -rf "$tmp/formats"
	tar -xzf "$2/formats.tgz" -C "$tmp"
	gunzip -c "$2/vmlinux.btf.gz" >"$tmp/btf"
	"$build/tests/unit/record/native_reduce" "$tmp/btf" "$tmp/formats" "$here/$1"
}

for series in 6.1 6.12; do
	sh tests/vm/run.sh "$build" "$series" native_formats
	reduce "$series" "$build/vm/$series/keep"
done
tracefs_mount
TRACEFS=$tracefs LIVE=$PWD/tests/live LIVE_OUT=$tmp/running sh tests/live/native_formats.sh
reduce "$(uname -r | cut -d. -f1,2)" "$tmp/running/keep"
