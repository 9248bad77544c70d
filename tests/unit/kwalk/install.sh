#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# install.sh BUILD EXAMPLE CLANG BPFTOOL: builds the example with nothing but the installed files.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
meson install -C "$1" --no-rebuild --quiet --tags devel --destdir "$root" >"$root/log" 2>&1 ||
	{ cat "$root/log"; exit 1; }

pc=$(find "$root" -name stackonce-kwalk.pc)
PKG_CONFIG_PATH="${pc%/*}:$(pkg-config --variable pc_path pkg-config)"
PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
headers=$(find "$root" -path '*/include/stackonce')
mkdir "$root/example"
cp "$2"/walkcost* "$root/example"
cd "$root/example"
"$3" -g -O2 -Wall -Werror -target bpf -mcpu=v3 -D__TARGET_ARCH_x86 \
	-I"/usr/include/$(cc -print-multiarch)" -I"$headers" -c walkcost.bpf.c -o walkcost.bpf.o
"$4" gen skeleton walkcost.bpf.o name walkcost_bpf >walkcost.skel.h
# shellcheck disable=SC2046 # lists of words
cc -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare -D_GNU_SOURCE -I"$headers/kwalk" \
	walkcost.c -o walkcost -L"$(dirname "$(find "$root" -name libstackonce-kwalk.a)")" \
	$(pkg-config --libs-only-l --static stackonce-kwalk)
rc=0
./walkcost >out 2>&1 || rc=$?
grep -q '^usage: walkcost ' out && [ $rc -eq 2 ] || { cat out; exit 1; }
