# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Debian's cloud kernels for the test machines, downloaded with apt.  The cache has the image and,
# in a cpio archive beside it, the modules that tests load.

vm_cache=${XDG_CACHE_HOME:-$HOME/.cache}/stackonce/kernels
# Modules that tests load.
vm_modules='drivers/net/dummy drivers/net/veth drivers/block/brd fs/overlayfs/overlay'

# The package of the newest kernel of a series.
kernel_package()
{
	case $1 in
	6.1) meta=linux-image-cloud-amd64 ;;
	6.12) meta=linux-image-6.12-cloud-amd64 ;;
	*) return 1 ;;
	esac
	apt-cache depends "$meta" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

kernel_update_lists()
{
	if [ "$(id -u)" -eq 0 ]; then
		apt-get -qq update
	else
		sudo apt-get -qq update
	fi
}

# modules_of DEB OUT: writes a cpio archive with these modules in /live/prog, where tests expect
# them.
modules_of()
{
	mkdir -p "$tmp/root/live/prog"
	# shellcheck disable=SC2046 # patterns for tar
	dpkg-deb --fsys-tarfile "$1" | tar -x -C "$tmp/root/live/prog" \
		--strip-components=7 --wildcards \
		$(for m in $vm_modules; do echo "./lib/modules/*/kernel/$m.ko*"; done) || return 1
	for module in "$tmp"/root/live/prog/*.xz; do
		[ ! -e "$module" ] || xz -d "$module" || return 1
	done
	(cd "$tmp/root" && find . | cpio --quiet -o -H newc -R 0:0) >"$2"
}

# has_modules CPIO: whether it has all of them; an archive made for older tests may not.
has_modules()
{
	[ -s "$1" ] || return 1
	for m in $vm_modules; do
		cpio --quiet -t <"$1" | grep -q "/$(basename "$m")\.ko$" || return 1
	done
}

# apt's own user downloads, and must be able to write to the directory.
kernel_download()
{
	tmp=$(mktemp -d /tmp/stackonce-kernel.XXXXXX)
	chmod 755 "$tmp"
	[ "$(id -u)" -ne 0 ] || chown _apt "$tmp" 2>/dev/null || :
	(cd "$tmp" && apt-get -qq download "$1" >&2) || {
		rm -rf "$tmp"
		return 1
	}
	mkdir -p "$vm_cache"
	dpkg-deb --fsys-tarfile "$tmp"/*.deb |
		tar -xO --wildcards './boot/vmlinuz-*' >"$tmp/vmlinuz" &&
		modules_of "$tmp"/*.deb "$tmp/modules" && mv "$tmp/modules" "$2.cpio" &&
		mv "$tmp/vmlinuz" "$2"
	rc=$?
	rm -rf "$tmp"
	return "$rc"
}

# kernel_image SERIES: prints the path of its vmlinuz; without a network, of the newest cached one.
kernel_image()
{
	pkg=$(kernel_package "$1")
	if [ -z "$pkg" ]; then
		kernel_update_lists >&2 || :
		pkg=$(kernel_package "$1")
	fi
	image=$vm_cache/$1-$pkg
	if [ -n "$pkg" ] && ! has_modules "$image.cpio"; then
		echo "vm: downloading $pkg" >&2
		kernel_download "$pkg" "$image" || {
			kernel_update_lists >&2
			pkg=$(kernel_package "$1")
			image=$vm_cache/$1-$pkg
			kernel_download "$pkg" "$image"
		} || :
	fi
	if [ ! -s "$image.cpio" ]; then
		# shellcheck disable=SC2012 # names of our own making
		image=$(ls -t "$vm_cache/$1-linux"*.cpio 2>/dev/null | sed -n '1s/\.cpio$//p')
	fi
	[ -n "$image" ] || return 1
	echo "$image"
}
