#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every #include in src/ must follow the table in tests/unit/layers, which ARCHITECTURE.md shows.
#   layers.sh [SRC]        check that tree
#   layers.sh --write      write the table to ARCHITECTURE.md
#   layers.sh --self-test  plant violations in a copy; each must be found
set -u
LC_ALL=C
export LC_ALL

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
table=$here/layers

# check_tree SRC
check_tree()
{
	# shellcheck disable=SC2046 # no name has blanks
	awk -v src="$1" -f "$here/layers.awk" "$table" \
		$(find "$1" -name '*.[ch]' -o -name '*.def' | sort)
}

# The table as ARCHITECTURE.md shows it.
markdown()
{
	# shellcheck disable=SC2016 # Markdown
	echo '| folder of `src` | what it holds | may include, beside itself | libraries |'
	echo '|---|---|---|---|'
	awk -F ' *[|] *' 'NF == 4 && !/^#/ && $1 !~ /\.[ch]$/ {
		gsub(/\+/, "", $3)
		gsub(/ /, ", ", $2)
		print "| `" $1 "` | " $4 " | " $2 " | " $3 " |"
	}' "$table"
}

# document FILE: writes ARCHITECTURE.md with the table between its marks to FILE
document()
{
	markdown >"$1.table"
	awk -v table="$1.table" '
		/<!-- end of layers/ { skip = 0 }
		!skip { print }
		/<!-- layers:/ {
			while ((getline line < table) > 0)
				print line
			skip = 1
		}' "$root/ARCHITECTURE.md" >"$1"
	rm -f "$1.table"
}

# Paths in ARCHITECTURE.md must exist.
check_document()
{
	bad=0
	# shellcheck disable=SC2016 # Markdown
	for path in $(grep -oE '`(src|tests|man|docs|bench)/[^`*{ ]*`' "$root/ARCHITECTURE.md" |
		tr -d '`'); do
		case $path in *NAME*) continue ;; esac # of a recipe
		[ -e "$root/$path" ] || {
			echo "ARCHITECTURE.md names $path, which does not exist"
			bad=1
		}
	done
	new=$(mktemp) || return 1
	document "$new"
	cmp -s "$new" "$root/ARCHITECTURE.md" || {
		echo "ARCHITECTURE.md does not show the table of tests/unit/layers:" \
			"layers.sh --write"
		bad=1
	}
	rm -f "$new"
	return "$bad"
}

# plant FILE LINE PATTERN: with that line added to that file, the check must report it and nothing
# else.
plant()
{
	rm -f "$tmp/kept"
	[ ! -f "$copy/$1" ] || cp "$copy/$1" "$tmp/kept"
	mkdir -p "$copy/$(dirname "$1")"
	printf '%s\n' "$2" >>"$copy/$1"
	if out=$(check_tree "$copy"); then
		echo "FAIL: '$2' in $1 was not found"
		failed=1
	elif [ "$(printf '%s\n' "$out" | grep -c ': ')" -gt 2 ] ||
		! printf '%s\n' "$out" | grep -q "$3"; then
		echo "FAIL: '$2' in $1 was not the only report:"
		printf '%s\n' "$out"
		failed=1
	fi
	rm -f "$copy/$1"
	[ ! -f "$tmp/kept" ] || mv "$tmp/kept" "$copy/$1"
	planted=$((planted + 1))
}

# plant_row OLD NEW PATTERN: with that row replaced, the check must refuse the table.
plant_row()
{
	sed "s,$1,$2," "$here/layers" >"$tmp/layers"
	cmp -s "$here/layers" "$tmp/layers" && echo "FAIL: no row '$1'" && failed=1
	table=$tmp/layers
	if out=$(check_tree "$copy") || ! printf '%s\n' "$out" | grep -q "$3"; then
		echo "FAIL: the row '$2' was not found"
		failed=1
	fi
	table=$here/layers
	planted=$((planted + 1))
}

self_test()
{
	tmp=$(mktemp -d) || exit 1
	trap 'rm -rf "$tmp"' EXIT
	cp -r "$root/src" "$tmp/src"
	copy=$tmp/src
	failed=0
	planted=0
	check_tree "$copy" >/dev/null || { check_tree "$copy"; return 1; }

	# a room that is not a lower layer
	plant base/log.c '#include "events/format.h"' 'of events$'
	plant trace/write/writer.c '#include "record/kernel/tracefs.h"' 'of record/kernel$'
	plant analyze/durations.c '#include "trace/tree.h"' 'of trace$'
	plant export/fsmb.c '#include "trace/stk.h"' 'of trace$'
	plant ui/out.c '#include "trace/read/reader.h"' 'of trace/read$'
	# a folder of the same room that is not a lower layer
	plant record/select/syscall.c '#include "record/bpf/balance.h"' 'of record/bpf$'
	plant record/kernel/percpu.c '  #  include "record/select/emulated.h"' 'of record/select$'
	plant record/target.c '#include "record/ftrace/ring/ftrace_page.h"' 'of record/ftrace/ring$'
	plant analyze/charge.h '#include "analyze/pairs/pairs.h"' 'of analyze/pairs$'
	plant cmd/info/info.c '#include "../../cmd/script/script.h"' 'of cmd/script$'
	# a library
	plant events/format.h '#include <gelf.h>' 'of +elf$'
	plant trace/bytes.c '#include <bpf/libbpf.h>' 'of +bpf$'
	plant analyze/charge.h '#include <zstd.h>' 'of +zstd$'
	plant ui/out.c '#include <curl/curl.h>' 'of +curl'
	plant record/meta.c '#include <bpf/btf.h>' 'of +bpf$'
	# private headers
	plant analyze/waits/offcpu_sums.c '#include "analyze/pairs/pairs_priv.h"' \
		'of analyze/pairs$'
	plant record/bpf/costs.c '#include "record/files/user_files_priv.h"' \
		'private to record/files$'
	plant record/bpf/costs.c '#include "record/select/probe_priv.h"' 'private to record/select$'
	plant record/ftrace/backend_ftrace.c '#include "trace/write/writer_priv.h"' \
		'private to trace/write$'
	plant bpf/record.bpf.c '#include "events/filter_priv.h"' 'private to events$'
	# headers that do not exist, or are generated but not listed
	plant base/log.c '#include "nowhere.h"' 'no header nowhere.h'
	plant record/meta.c '#include "waits.h"' 'no header waits.h'
	plant ui/out.c '#include "../include/nowhere.h"' 'no header'
	plant bpf/record.bpf.c '#include "other.skel.h"' 'no header other.skel.h'
	plant cmd/main.c '#include "generated.inc"' 'no header generated.inc'
	# cycles
	plant_row '^base | include' 'base | include events' 'base names events'
	plant_row '^record | include' 'record | record/bpf include' 'record names record/bpf'
	plant_row '^events | base' 'events | ui base' 'events names ui'
	plant_row '^trace | include' 'trace | trace/read include' 'trace names trace/read'
	plant_row '^analyze | include' 'analyze | analyze/waits include' \
		'analyze names analyze/waits'
	# unit names that exist already, folders that are not in the table
	plant record/tree.c '// x' 'record has a unit tree, too'
	plant symbols/fsmb.c '// x' 'has a unit fsmb, too'
	plant record/bpf/tracefs.h '/* x */' 'record/bpf has a unit tracefs, too'
	plant record/other/thing.c '// x' 'the table has no folder record/other'
	plant stray.c '// x' 'the table has no folder'
	# libstackonce
	plant trace/tree.c '#include "log.h"' 'but logs'
	plant trace/read/reader.c '#include "log.h"' 'but logs'
	plant trace/read/merge.c 'x = printf("x");' 'but prints'
	plant trace/dict.c '	exit(1);' 'but prints'
	plant trace/tree.h '#include "cursor.h"' 'its licence is GPL-2.0-only'
	# nothing that says what it is for
	plant base/thing.c "// SPDX-License-Identifier: GPL-2.0-only
#include \"log.h\"" \
		'has no comment below its licence'
	[ "$failed" -eq 0 ] && echo "all $planted planted violations found"
	return "$failed"
}

case ${1:-} in
--self-test) self_test ;;
--write)
	document "$root/ARCHITECTURE.md.new" &&
		cat "$root/ARCHITECTURE.md.new" >"$root/ARCHITECTURE.md"
	rm -f "$root/ARCHITECTURE.md.new"
	;;
'')
	check_tree "$root/src" && check_document
	;;
*) check_tree "$(cd "$1" && pwd)" ;;
esac
