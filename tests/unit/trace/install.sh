#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# install.sh BUILD EXAMPLE RECORDING EVENTS: the installed files suffice to build a program in C and
# C++, shared and static, and libstackonce exports only the functions of its header.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
programs='c static'
complete=true

meson install -C "$1" --no-rebuild --quiet --tags devel,runtime --destdir "$root" \
	>"$root/log" 2>&1 ||
	{ cat "$root/log"; exit 1; }

pc=$(find "$root" -name stackonce.pc)
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root"
lib=$(find "$root" -name libstackonce.so)
cflags=$(pkg-config --cflags stackonce)

# shellcheck disable=SC2086 # lists of words
{
	cc -Wall -Wextra -Werror -pedantic -std=c99 $cflags "$2" -o "$root/c" \
		$(pkg-config --libs stackonce)
	if command -v c++ >/dev/null; then
		c++ -Wall -Wextra -Werror -pedantic -x c++ $cflags "$2" -o "$root/c++" \
			$(pkg-config --libs stackonce)
		programs="$programs c++"
	else
		echo "skipped: there is no c++"
		complete=false
	fi
	cc $cflags "$2" -o "$root/static" "${lib%.so}.a" $(pkg-config --libs libzstd)
}
for program in $programs; do
	got=$(LD_LIBRARY_PATH="${lib%/*}" "$root/$program" "$3")
	[ "$got" = "$4" ] || { echo "$program: '$got' events, not $4"; exit 1; }
done

nm -D --defined-only "$lib" | awk '$2 != "A" { sub("@.*", "", $3); print $3 }' |
	sort >"$root/exported"
sed -n 's/^[a-z].*[ *]\(stk_[a-z_]*\)(.*/\1/p' "$(find "$root" -name stackonce.h)" \
	"$(find "$root" -name stackonce-counters.h)" | sort -u >"$root/declared"
diff "$root/declared" "$root/exported"
echo "$(wc -l <"$root/declared") functions"
$complete || exit 77
