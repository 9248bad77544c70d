# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The file system of a test machine: busybox, the built programs with their libraries, the tests.

# add_program ROOT FILE DESTINATION: copies a program with the libraries that it is linked to.
add_program()
{
	mkdir -p "$1$(dirname "$3")"
	cp -L "$2" "$1$3"
	ldd "$2" 2>/dev/null |
		sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (0x.*/\1/p' |
		while read -r lib; do
			[ -e "$1$lib" ] && continue
			mkdir -p "$1$(dirname "$lib")"
			cp -L "$lib" "$1$lib"
		done
}

# base_root ROOT: adds busybox and the directories that every machine has.
base_root()
{
	for dir in bin sbin usr/bin usr/sbin proc sys dev tmp etc root; do
		mkdir -p "$1/$dir"
	done
	cp /bin/busybox "$1/bin/busybox"
	for applet in $("$1/bin/busybox" --list); do
		[ -e "$1/bin/$applet" ] || ln -s busybox "$1/bin/$applet"
	done
	cp tests/vm/guest.sh "$1/"
}

# live_root ROOT BUILD: adds stackonce, the live tests with their programs, and the tools they use.
live_root()
{
	mkdir -p "$1/live/prog"
	add_program "$1" "$2/src/cmd/stackonce" /usr/bin/stackonce
	for prog in "$2"/tests/live/*/* "$2"/tests/live/prog/user/*; do
		if [ -f "$prog" ] && [ -x "$prog" ]; then
			add_program "$1" "$prog" "${prog#"$2"/tests}"
		fi
	done
	# ldd does not list the loader of another C library
	if [ -e /lib/ld-musl-x86_64.so.1 ]; then
		cp -L /lib/ld-musl-x86_64.so.1 "$1/lib/"
	fi
	for tool in jq perf trace-cmd bpftool; do
		path=$(tool_path "$tool")
		[ -n "$path" ] && add_program "$1" "$path" "/usr/bin/$tool"
	done
	cp tests/live/*.sh "$1/live/"
	cp tests/tracefs.sh tests/process.sh "$1/"
}

# pack_root ROOT OUT: packs and removes ROOT; uncompressed, which is fastest on an emulated CPU.
pack_root()
{
	(cd "$1" && find . | cpio --quiet -o -H newc -R 0:0) >"$2.tmp"
	rm -rf "$1"
	mv "$2.tmp" "$2"
}

# make_initramfs BUILD OUT
make_initramfs()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-vm.XXXXXX")
	base_root "$root"
	live_root "$root" "$1"
	cp tests/vm/demo.sh "$root/"
	cp tests/vm/init "$root/init"
	chmod 755 "$root/init"
	pack_root "$root" "$2"
}

# Debian's /usr/bin/perf and bpftool may be scripts that look for the running kernel's version.
tool_path()
{
	for path in "/usr/sbin/$1" "/usr/bin/$1"; do
		[ -x "$path" ] || continue
		case $(head -c 4 "$path" | tr -d '\0') in
		*ELF) ;;
		*) continue ;;
		esac
		echo "$path"
		return
	done
}
