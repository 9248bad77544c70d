#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Who may include whom (ARCHITECTURE.md, "Layers"): every #include in src/ must follow the table.
#   layers.sh [SRC]        check that tree
#   layers.sh --self-test  plant violations in a copy and see each of them found
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
src=$here/../../src

# ROOM: rooms it may include headers of (its own always); +LIB: system headers it may include.
rules='
include:
text:     include
events:   include text
stackmap: include text +bpf
kwalk:    include text stackmap +bpf
trace:    include +zstd
output:   include text trace
symbols:  include text +elf
unwind:   include text symbols +zstd
bpf:      include stackmap kwalk events unwind +bpf
record:   include text output events trace symbols stackmap kwalk unwind bpf +bpf
analyze:  include text events
export:   include text output
import:   include text output trace
cmd:      include text output events analyze export import
'

# FILE: rooms it may use beyond its own room's.  The reader is a library of its own: only the writer
# logs through text.  The commands that read use nothing but the public header, and names.c to look
# into files of this machine; only those that touch the running kernel see the recorder, and only
# symbolize changes a recording.  The example of the stack map has a skeleton of its own.  The stack
# map of a kernel is the same file for its import and while recording.
exceptions='
record/ftrace_ids.c: import
trace/writer.c: text
trace/writer_tables.c: text
stackmap/example/stackcount.c: bpf
kwalk/kwalk.c: bpf
kwalk/modules.c: bpf
kwalk/example/walkcost.c: bpf
cmd/record.c: record symbols +bpf
cmd/record.h: record
cmd/record_options.c: record
cmd/list.c: record
cmd/list_presets.c: record
cmd/latency_values.c: record
cmd/names.c: symbols
cmd/files.c: symbols
cmd/maps.c: symbols
cmd/symbolize.c: symbols trace
cmd/doctor.c: record symbols +bpf
'

# The functions below leave their answer in a variable: a process for each of thousands of includes takes
# many seconds.

# allowed_to FILE ROOM: what the file may include, in $allowed.
allowed_to()
{
	allowed="$2 $(printf '%s\n' "$rules" | sed -n "s/^$2://p") $(
		printf '%s\n' "$exceptions" | sed -n "s,^$1:,,p")"
}

# may_include OTHER
may_include()
{
	for word in $allowed; do
		[ "$word" = "$1" ] && return 0
	done
	return 1
}

# room_of FILE HEADER: the room a quoted header lies in, as the compiler finds it, in $to.
room_of()
{
	for dir in "${1%/*}" "$src/include" "$src/text" "$src"; do
		[ -f "$dir/$2" ] || continue
		path=$dir/$2
		case $2 in
		*..*) path=$(cd "${path%/*}" && pwd)/ ;;
		esac
		to=${path#"$src"/}
		to=${to%%/*}
		return
	done
	case $2 in
	*.skel.h | vmlinux.h) to=bpf ;;	# made at build time
	*/*) to=${2%%/*} ;;
	*) to=generated ;;
	esac
}

# lib_of HEADER: the library a system header belongs to, in $to; nothing for the C library and the kernel.
lib_of()
{
	case $1 in
	bpf/*) to=+bpf ;;
	libelf.h | gelf.h | elfutils/* | dwarf.h | lzma.h | sha2.h | libiberty/*) to=+elf ;;
	zstd*.h) to=+zstd ;;
	event-parse.h | traceevent/* | tracefs*.h | json*/* | curl/*) to=+other ;;
	*) to= ;;
	esac
}

# check_tree [FILE...]: these files, or all of them
check_tree()
{
	bad=0
	checked=0
	for file in ${*:-$(find "$src" -name '*.[ch]' | sort)}; do
		room=${file#"$src"/}
		room=${room%%/*}
		if ! printf '%s\n' "$rules" | grep -q "^$room:"; then
			echo "src/$room: a room that the table in layers.sh does not have"
			bad=$((bad + 1))
			continue
		fi
		allowed_to "${file#"$src"/}" "$room"
		for name in $(sed -n 's/^[ \t]*#[ \t]*include[ \t]*\(["<][^">]*\)[">].*/\1/p' "$file"); do
			checked=$((checked + 1))
			case $name in
			\"*) room_of "$file" "${name#\"}" ;;
			*) lib_of "${name#<}" ;;
			esac
			[ -z "$to" ] || [ "$to" = generated ] && continue
			if ! may_include "$to"; then
				echo "${file#"$src"/}: $room may not include ${name#?} (of $to)"
				bad=$((bad + 1))
			fi
		done
	done
	[ "$checked" -gt 0 ] || { echo "no includes found in $src"; return 1; }
	echo "$checked includes checked, $bad against the layers"
	[ "$bad" -eq 0 ]
}

# Paths that ARCHITECTURE.md names must be there.
check_paths()
{
	root=$(cd "$here/../.." && pwd)
	missing=0
	for path in $(grep -oE '`(src|tests|man|docs|bench)/[^`*{ ]*`' "$root/ARCHITECTURE.md" | tr -d '`'); do
		[ -e "$root/$path" ] || {
			echo "ARCHITECTURE.md names $path, which is not there"
			missing=1
		}
	done
	return "$missing"
}

# plant FILE LINE: the copy with that line in that file must be refused.
plant()
{
	printf '%s\n' "$2" >> "$src/$1"
	if out=$(check_tree "$src/$1"); then
		echo "FAIL: '$2' in $1 was not found"
		failed=1
	elif [ "$(printf '%s\n' "$out" | grep -c "^$1: ")" -ne 1 ]; then
		echo "FAIL: '$2' in $1 is not what was reported:"
		printf '%s\n' "$out"
		failed=1
	fi
	sed -i '$d' "$src/$1"
}

self_test()
{
	tmp=$(mktemp -d) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	cp -r "$src" "$tmp/src"
	src=$(cd "$tmp/src" && pwd)
	failed=0
	check_tree >/dev/null || { check_tree; return 1; }
	plant text/log.c '#include "events/format.h"'
	plant trace/wire.c '#include <bpf/libbpf.h>'
	plant trace/wire.c '#include "record/tracefs.h"'
	plant trace/reader.c '#include "log.h"'
	plant analyze/call_tree.c '#include "trace/tree.h"'
	plant import/kallsyms.c '  #  include "../bpf/recorder.skel.h"'
	plant export/fsmb.c '#include "trace/stk.h"'
	plant cmd/out.c '#include "trace/reader.h"'
	plant cmd/out.c '#include "record/tracefs.h"'
	plant events/format.h '#include <gelf.h>'
	[ "$failed" -eq 0 ] && echo "all planted violations found"
	return "$failed"
}

case ${1:-} in
--self-test)
	src=$(cd "$src" && pwd)
	self_test
	;;
*)
	src=$(cd "${1:-$src}" && pwd) || exit 1
	check_tree && check_paths
	;;
esac
