# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The kernels of the series: Debian's source package, the patches, the configurations, the builds.
# An entry of the cache is named by a hash of the content that it was built from:
#   tree-KEY           the patched source; obj and obj-VARIANT in it while they are built
#   image-VARIANT-KEY  bzImage, vmlinux, System.map, config, modules, and the kernel's own selftests
#                      and stackmap-dump
# $KERNEL_TREE names a source tree to build unchanged; its objects stay in it, and the cache is not
# used.

k_cache=${XDG_CACHE_HOME:-$HOME/.cache}/stackonce/kernel-series
k_package=linux-source-6.12
k_variants='default debug kcsan rt bpf fp'
k_jobs=${JOBS:-$(nproc)}
# What a compiler of another architecture is called, see use_arch.
k_arch=x86_64
k_cross=

k_die()
{
	echo "kernel: $*" >&2
	exit 1
}

# is_variant WORD
is_variant()
{
	case " $k_variants " in
	*" $1 "*) return 0 ;;
	*) return 1 ;;
	esac
}

k_hash()
{
	sha256sum | cut -c 1-16
}

source_version()
{
	dpkg-query -W -f '${Version}' "$k_package" 2>/dev/null ||
		k_die "$k_package is not installed"
}

# patched_code: what the patches change, without what they say about it.
patched_code()
{
	sed -s -n '/^diff --git/,$p' kernel/*.patch 2>/dev/null
}

source_key()
{
	{
		source_version
		patched_code
	} | k_hash
}

# build_key VARIANT
build_key()
{
	{
		source_key
		gcc --version
		config_files "$1" | xargs cat kernel/build.sh
	} | k_hash
}

# unpack_source DIR: unpacks the package, unpatched.
unpack_source()
{
	mkdir -p "$1"
	tar -xf "/usr/src/$k_package.tar.xz" -C "$1" --strip-components=1 ||
		k_die "cannot unpack /usr/src/$k_package.tar.xz"
}

# apply_patch TREE PATCH: applies it without fuzz, or exits and says where it fails.
apply_patch()
{
	patch -s -f -p1 -F0 --no-backup-if-mismatch -r - -d "$1" <"$2" >"$1.patch.log" 2>&1 && {
		rm -f "$1.patch.log"
		return
	}
	k_die "$(basename "$2") does not apply to $k_package $(source_version): $(
		grep -m 1 -iE 'failed|find file|malformed|garbage' "$1.patch.log")"
}

# k_source: prints the path of the patched tree; removes the trees of earlier patches.
k_source()
{
	if [ -n "${KERNEL_TREE:-}" ]; then
		(cd "$KERNEL_TREE" && pwd)
		return
	fi
	tree=$k_cache/tree-$(source_key) || exit 1
	if [ ! -d "$tree" ]; then
		echo "kernel: unpacking $k_package $(source_version)" >&2
		rm -rf "$k_cache"/tree-*
		unpack_source "$tree.new"
		for p in kernel/*.patch; do
			[ ! -e "$p" ] || apply_patch "$tree.new" "$p"
		done
		mv "$tree.new" "$tree"
	fi
	echo "$tree"
}

# config_files VARIANT: the fragments, in merge order.
config_files()
{
	echo "$PWD/kernel/config"
	[ "$1" != fp ] || echo "$PWD/kernel/config.bpf"
	[ "$1" = default ] || echo "$PWD/kernel/config.$1"
}

# use_arch ARCH: what is configured and made from now on in this shell is for that architecture.
use_arch()
{
	k_arch=$1
	k_cross=
	[ "$1" != arm64 ] || k_cross=aarch64-linux-gnu-
}

# merge_fragments TREE OBJ FILE...: writes OBJ/.config; merge.log lists rejected values.
merge_fragments()
{
	k_dir=$1
	k_obj=$2
	shift 2
	mkdir -p "$k_dir/$k_obj"
	(cd "$k_dir" && ARCH=$k_arch CROSS_COMPILE=$k_cross \
		scripts/kconfig/merge_config.sh -n -O "$k_obj" "$@") \
		>"$k_dir/$k_obj/merge.log" 2>&1 || {
		tail -n 5 "$k_dir/$k_obj/merge.log" >&2
		return 1
	}
}

# k_merge TREE OBJ VARIANT: configures a variant.
k_merge()
{
	# shellcheck disable=SC2046 # paths, one a line
	merge_fragments "$1" "$2" $(config_files "$3")
}

# rejected TREE OBJ: prints the values that the kernel did not take; fails if there are none.  An
# option that is to be off may not exist.
rejected()
{
	awk '/^Value requested/ {
			what = $0
			getline wanted
			getline actual
			if (wanted ~ /is not set$/ && actual ~ /^Actual value: *$/)
				next
			print what "\n" wanted "\n" actual
			found = 1
		}
		END { exit !found }' "$1/$2/merge.log"
}

# k_config TREE OBJ VARIANT: fails if the kernel rejects a value, unless $KERNEL_TREE is given,
# which may not have all options yet.
k_config()
{
	k_merge "$@" || return 1
	[ -n "${KERNEL_TREE:-}" ] || ! rejected "$1" "$2" >&2
}

# k_make TREE OBJ ARG...: builds are reproducible.  Objects are in a directory of the tree itself,
# so that paths are relative and a compiler cache hits in every tree.
k_make()
{
	k_cc=${k_cross}gcc
	! command -v ccache >/dev/null 2>&1 || k_cc="ccache $k_cc"
	k_dir=$1
	k_obj=$2
	shift 2
	CCACHE_NOHASHDIR=1 KBUILD_BUILD_TIMESTAMP=0 KBUILD_BUILD_USER=stackonce \
		KBUILD_BUILD_HOST=stackonce \
		make -C "$k_dir" -s --no-print-directory O="$k_obj" ARCH="$k_arch" \
		CROSS_COMPILE="$k_cross" LOCALVERSION= CC="$k_cc" "$@"
}

# k_compile TREE OBJ VARIANT LOG: builds kernel and modules; prints the errors.
k_compile()
{
	k_config "$1" "$2" "$3" && k_make "$1" "$2" -j"$k_jobs" bzImage modules >"$4" 2>&1 && return
	grep -E -B 1 -A 4 'error|Error' "$4" | head -n 30 >&2
	return 1
}

# keep_image TREE OBJ DIR: copies the files that a test machine needs from a build.
keep_image()
{
	rm -rf "$3"
	mkdir -p "$3/modules"
	cp "$1/$2/arch/x86/boot/bzImage" "$1/$2/System.map" "$3/"
	cp "$1/$2/.config" "$3/config"
	(cd "$1/$2" && find . -name '*.ko') | while read -r ko; do
		cp "$1/$2/$ko" "$3/modules/"
	done
	cp -r "$1/tools/testing/selftests/ftrace" "$3/selftests"
	strip -g -o "$3/vmlinux" "$1/$2/vmlinux"
	[ ! -d "$1/tools/tracing/stackmap" ] ||
		make -s -C "$1/tools/tracing/stackmap" --no-print-directory O="$3" >/dev/null ||
		k_die "stackmap-dump does not build"
}

# build_image VARIANT OBJ IMAGE: builds one at a time.
build_image()
{
	mkdir -p "$k_cache"
	exec 9>"$k_cache/lock"
	flock -n 9 || {
		echo "kernel: waiting for another build in $k_cache" >&2
		flock 9
	}
	if [ ! -d "$3" ]; then
		tree=$(k_source) || exit 1
		began=$(date +%s)
		echo "kernel: building $1 (minutes; log: $k_cache/build-$1.log)" >&2
		k_compile "$tree" "$2" "$1" "$k_cache/build-$1.log" || k_die "$1 does not build"
		keep_image "$tree" "$2" "$3.new"
		rm -rf "$k_cache/image-$1"-*[0-9a-f] "${tree:?}/$2"
		mv "$3.new" "$3"
		echo "kernel: built $1 in $(($(date +%s) - began)) s" >&2
	fi
	exec 9>&-
}

# k_build VARIANT: builds the image unless it is in the cache; prints its directory.
k_build()
{
	is_variant "$1" || k_die "no variant '$1': the variants are $k_variants"
	obj=obj
	[ "$1" = default ] || obj=obj-$1
	if [ -n "${KERNEL_TREE:-}" ]; then
		tree=$(k_source) || exit 1
		k_compile "$tree" "$obj" "$1" "$tree/$obj.log" >&2 ||
			k_die "$tree does not build ($1)"
		keep_image "$tree" "$obj" "$tree/$obj/image"
		echo "$tree/$obj/image"
		return
	fi
	image=$k_cache/image-$1-$(build_key "$1") || exit 1
	[ -d "$image" ] || build_image "$1" "$obj" "$image" || exit 1
	echo "$image"
}
