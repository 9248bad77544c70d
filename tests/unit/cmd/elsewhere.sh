#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Exports and views of a recording are what it holds, wherever it is read, see elsewhere.py.
#   elsewhere.sh STACKONCE MAKE_RECORDING USER_RECORDING PROGRAM GOLDEN_DIR PYTHON
set -u
so=$(realpath "$1") make=$(realpath "$2") make_user=$(realpath "$3") program=$(realpath "$4")
golden=$(realpath "$5") python=$6 here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
for tool in readelf nm chroot unshare ldd; do
	command -v $tool >/dev/null || {
		echo "skipped: $tool is missing"
		exit 77
	}
done

# Another machine: the tool, its libraries, and nothing else.
mkdir -p there/tool there/var/tmp there/tmp
cp "$so" there/tool/stackonce
for file in $(ldd "$so" | grep -o '/[^ ]*'); do
	cp "$file" there/tool/
	case $file in */ld-*) loader=/tool/${file##*/} ;; esac
done
as=
[ "$(id -u)" -eq 0 ] || as='unshare -r'
there="$as chroot $dir/there $loader --library-path /tool /tool/stackonce"
$there version >version 2>err || {
	echo "skipped: cannot run in a root of its own: $(cat err)"
	exit 77
}

# Of a program that this machine has, with and without its names in the recording.
cp "$program" prog
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
main=$(nm prog | sed -n 's/^\([0-9a-f]*\) T main$/0x\1/p')
# shellcheck disable=SC2046 # two words
set -- $(readelf -lW prog | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
"$make_user" prog.stk "$dir/prog" "$id" "$(printf %x $((main + 1 - $2 + $1)))" || exit 1
"$so" symbolize -q prog.stk -o named.stk || exit 1

record user guesses fleet hostile
cp "$golden"/*.stk .
cp ./*.stk there
"$python" "$here/elsewhere.py" "$so" "$there" "$dir/there" ./*.stk
