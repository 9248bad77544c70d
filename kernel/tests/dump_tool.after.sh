#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# dump_tool.after.sh DIR CONSOLE: stackmap-dump prints the exported maps as tracefs does, and a map
# that an earlier kernel has written, with the former magic and version.
set -u
# shellcheck source=kernel/tests/lib.sh
. kernel/tests/lib.sh
golden=$PWD/tests/golden/fsmb
cd "$1" || exit 1
tool=$KERNEL_IMAGE/stackmap-dump
vmlinux=$KERNEL_IMAGE/vmlinux

# same A B WHAT
same()
{
	cmp -s "$1" "$2" && return
	diff "$1" "$2" | head -n 20
	fail "$3: $(diff "$1" "$2" | grep -c '^[<>]') lines differ from tracefs"
}

"$tool" --kallsyms kallsyms stack_map_bin >by_kallsyms || fail "with kallsyms: $?"
same stack_map by_kallsyms "names from kallsyms"

"$tool" --kallsyms "$golden/kallsyms.txt" "$golden/stack_map_bin" >former || fail "former map: $?"
same "$golden/stack_map.txt" former "a map of version 2"

# vmlinux has no modules: their frames are compared as addresses.
"$tool" --vmlinux "$vmlinux" stack_map_bin >by_vmlinux || fail "with vmlinux: $?"
sed 's/^\(  \[[0-9]*\]\) .* \[brd\]$/\1 address/' stack_map >names
sed 's/^\(  \[[0-9]*\]\) 0x[0-9a-f]*$/\1 address/' by_vmlinux >vmlinux_names
same names vmlinux_names "names from vmlinux"

# line by line as in the text, without offsets
"$tool" --json --vmlinux "$vmlinux" stack_map_bin >json || fail "as JSON: $?"
jq -r 'select(.type == "stack") |
	"stack_id \(.stack_id) [ref \(.ref), depth \(.depth)" +
		"\(if .truncated then ", truncated" else "" end)]",
	(.frames[] | .sym // "address"), ""' json >json_text || fail "not JSON"
sed 's/^  \[[0-9]*\] //; s/+0x[0-9a-f]*\/0x[0-9a-f]*$//' names >names_text
same names_text json_text "JSON"
generation=$(sed -n 's/^generation: //p' stat)
jq -e -s --arg r "$(cat release)" --argjson g "$generation" '
	.[0] | .type == "map" and .release == $r and .generation == $g
	' json >json_map ||
	fail "the first object does not identify the kernel: $(head -n 1 json)"
"$tool" --top 5 stack_map_bin | sed -n 's/^stack_id.*\[ref \([0-9]*\),.*/\1/p' >top
sed -n 's/^stack_id.*\[ref \([0-9]*\),.*/\1/p' stack_map | sort -rn | head -n 5 >most
same most top "--top"

if [ -e user_stack_map ]; then
	"$tool" user_stack_map_bin >user || fail "user stacks: $?"
	same user_stack_map user "user stacks"
	"$tool" --file-map file_map user_stack_map_bin |
		sed 's/^\(  \[.*> : 0x[0-9a-f]*\) .*/\1/' >user
	same user_stack_map user "user stacks with files"
	"$tool" --file-map file_map user_stack_map_bin | grep -q ' : 0x[0-9a-f]* /' ||
		fail "no frame has a path"
fi

# a kernel that did not write the map is refused
if "$tool" --vmlinux "$tool" stack_map_bin >/dev/null 2>refused; then
	fail "another ELF file is accepted as the kernel"
fi
grep -q 'build ids differ' refused || fail "refused for another reason: $(cat refused)"
base=$(sed -n 's/^\([0-9a-f]*\) T _text$/\1/p' kallsyms)
echo "# $(grep -c '^  \[' stack_map) frames have the same names, kernel at $base"
