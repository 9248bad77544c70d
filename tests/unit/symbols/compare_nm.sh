#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# compare_nm.sh SYMBOLS_AT PYTHON: compares functions in the compiler's own files with nm.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
set -- "$1" "$2" "$(command -v sh)"
for lib in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 ld-linux-x86-64.so.2; do
	file=$(${CC:-cc} -print-file-name="$lib")
	[ "$file" = "$lib" ] || set -- "$@" "$file"
done
set -- "$@" "$(${CC:-cc} -print-prog-name=cc1)" "$2"
tool=$1 python=$2
shift 2
exec "$python" "$here/compare_nm.py" "$tool" 4000 "$@"
