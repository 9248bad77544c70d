# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The file system of a test machine: busybox, the build's programs with their libraries, the tests.

# add_program ROOT FILE DESTINATION: copies it with every library it is linked to.
add_program()
{
	mkdir -p "$1$(dirname "$3")"
	cp -L "$2" "$1$3"
	ldd "$2" 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/[^ ]*\) (0x.*/\1/p' |
		while read -r lib; do
			[ -e "$1$lib" ] && continue
			mkdir -p "$1$(dirname "$lib")"
			cp -L "$lib" "$1$lib"
		done
}

# make_initramfs BUILD OUT: uncompressed, which an emulated CPU unpacks fastest.
make_initramfs()
{
	root=$(mktemp -d "${TMPDIR:-/tmp}/stackonce-vm.XXXXXX")
	for dir in bin sbin usr/bin usr/sbin proc sys dev tmp etc root live/prog; do
		mkdir -p "$root/$dir"
	done
	cp /bin/busybox "$root/bin/busybox"
	for applet in $("$root/bin/busybox" --list); do
		[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
	done
	add_program "$root" "$1/src/cmd/stackonce" /usr/bin/stackonce
	for prog in "$1"/tests/live/*/* "$1"/tests/live/prog/user/*; do
		if [ -f "$prog" ] && [ -x "$prog" ]; then
			add_program "$root" "$prog" "${prog#"$1"/tests}"
		fi
	done
	# ldd knows nothing of another C library's loader
	if [ -e /lib/ld-musl-x86_64.so.1 ]; then
		cp -L /lib/ld-musl-x86_64.so.1 "$root/lib/"
	fi
	for tool in jq perf trace-cmd bpftool; do
		path=$(tool_path "$tool")
		[ -n "$path" ] && add_program "$root" "$path" "/usr/bin/$tool"
	done
	cp tests/live/*.sh "$root/live/"
	cp tests/tracefs.sh tests/vm/demo.sh "$root/"
	cp tests/vm/init "$root/init"
	chmod 755 "$root/init"
	(cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$2.tmp"
	rm -rf "$root"
	mv "$2.tmp" "$2"
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
