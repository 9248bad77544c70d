#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# User frames and their files, with an existing program: names from the right file only,
# files --verify, symbolize, inlined functions, maps.
#   user.sh STACKONCE USER_RECORDING PROGRAM PROGRAM_SOURCE
set -u
so=$(realpath "$1") make=$(realpath "$2") program=$(realpath "$3") source=$(realpath "$4")

for tool in readelf objcopy addr2line nm; do
	command -v $tool >/dev/null || {
		echo "skipped: $tool is missing"
		exit 77
	}
done
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
children=
trap 'kill $children 2>/dev/null; rm -rf "$dir"' EXIT

# want WHAT EXPECTED GOT
want()
{
	[ "$2" = "$3" ] || fail "$1: '$3' instead of '$2'"
}

# has WHAT PATTERN FILE
has()
{
	grep -qE -- "$2" "$3" || {
		fail "$1: no '$2' in"
		cat "$3"
	}
}

has_not()
{
	grep -qE -- "$2" "$3" && {
		fail "$1: '$2' in"
		cat "$3"
	}
}

build_id()
{
	readelf -n "$1" 2>/dev/null | sed -n 's/.*Build ID: //p'
}

# line_of TEXT: the number of the source line that contains "line TEXT"
line_of()
{
	grep -n "line $1 " "$source" | cut -d: -f1
}

# ---- the program: an offset in outer() inside two inlined functions, and one in main()
mkdir -p root/opt debug
cp "$program" root/opt/prog
id=$(build_id root/opt/prog)
[ -n "$id" ] || {
	echo "skipped: $program has no build id"
	exit 77
}
address=$(nm root/opt/prog | sed -n 's/^\([0-9a-f]*\) T outer$/0x\1/p')
at=$((address))
while [ $at -lt $((address + 256)) ]; do
	at=$((at + 1))
	[ "$(addr2line -i -e root/opt/prog "$(printf %x $at)" | wc -l)" -eq 3 ] && break
done
main=$(nm root/opt/prog | sed -n 's/^\([0-9a-f]*\) T main$/0x\1/p')
# the file offset and the address of the code
# shellcheck disable=SC2046 # two words
set -- $(readelf -lW root/opt/prog | awk '$1 == "LOAD" && /R E/ { print $2, $3 }')
inner=$(printf %x $((at - $2 + $1)))
in_main=$(printf %x $((main + 1 - $2 + $1)))
at_outer=$(printf %x $((at - address)))
"$make" prog.stk /opt/prog "$id" "$inner" "$in_main" || exit 1

# another build at the same path, without a build id
mkdir -p other/opt
objcopy --remove-section .note.gnu.build-id root/opt/prog other/opt/prog

# ---- names at reading time
"$so" script --no-header --full prog.stk >out 2>err
has "no file" "^ =>  <0*$inner> : path=/opt/prog build_id=$id\$" out
has "no file" 'warning: .*one file' err
"$so" script --no-header --sysroot root prog.stk >out 2>err
has "names, short" "^ => outer\\+0x$at_outer/0x[0-9a-f]+ \\[prog\\]\$" out
"$so" script --no-header --full --sysroot root prog.stk >out 2>err
has "names" "^ =>  <0*$inner> : path=/opt/prog build_id=$id outer\\+0x$at_outer/0x" out
has "names" "^ =>  <0*$in_main> : .* main\\+0x1/0x" out
[ -s err ] && fail "names: $(cat err)"
"$so" script --no-header --sysroot other prog.stk >out 2>err
has_not "names of another build" outer out
has "names of another build" 'warning: .*one file' err
"$so" script --no-header --sysroot root --no-symbols prog.stk >out 2>err
has_not "--no-symbols" outer out
[ -s err ] && fail "--no-symbols: $(cat err)"
"$so" report --sysroot root prog.stk >out
has "report" "^ *outer\\+0x$at_outer/0x[0-9a-f]+ \\[prog\\]\$" out
"$so" stacks --json --sysroot root prog.stk | jq -r '.frames[] | .sym + " " + .path' >out
want "stacks --json" "outer /opt/prog,main /opt/prog" "$(paste -sd, out)"

# ---- inlined functions
"$so" script --no-header --inline --sysroot root prog.stk >out
has "--inline" \
	"^ => innermost \\(inlined\\) at .*inlined.c:$(line_of innermost)\$" out
has "--inline" "^ => middle \\(inlined\\) at .*inlined.c:$(line_of middle)\$" out
has "--inline" "outer\\+0x$at_outer/.* at .*inlined.c:$(line_of outer)\$" out
want "--inline: order" "innermost middle outer" \
	"$(grep -oE 'innermost|middle|outer' out | head -n 3 | paste -sd' ')"
"$so" report --tree --inline --sysroot root prog.stk |
	grep -oE '(innermost|middle|outer|main).*' >out
want "report --tree --inline" \
	"innermost (inlined) [prog],middle (inlined) [prog],outer [prog],main [prog]" \
	"$(paste -sd, out)"
"$so" export speedscope -q --inline --sysroot root prog.stk -o - >out
want "export speedscope --inline: outermost first" "main,outer,middle,innermost" \
	"$(jq -r '. as $all | .profiles[0].samples[0][] | $all.shared.frames[.].name' out |
		paste -sd,)"
want "export speedscope --inline: sources" 1 \
	"$(jq -r '[.shared.frames[].file | select(endswith("inlined.c"))] | unique | length' out)"
# Function, depth, line and address of each frame, outermost first; inlined ones are at one address.
"$so" export firefox -q --inline --sysroot root prog.stk -o - >out
frames='.shared as $s | $s.frameTable | . as $f | [range(.length)] | map(
	$s.stringArray[$s.funcTable.name[$f.func[.]]] as $name |
	{name: $name, depth: $f.inlineDepth[.], line: $f.line[.], address: $f.address[.],
	source: $s.funcTable.source[$f.func[.]]})'
want "export firefox --inline: frames" \
	"main 0 outer 0 middle 1 innermost 2" \
	"$(jq -r "$frames | map(\"\(.name) \(.depth)\") | join(\" \")" out)"
want "export firefox --inline: lines" \
	"$(line_of outer) $(line_of middle) $(line_of innermost)" \
	"$(jq -r "$frames | .[1:] | map(.line) | join(\" \")" out)"
want "export firefox --inline: addresses" 1 "$(jq -r "$frames | .[1:] | map(.address) | unique |
	length" out)"
want "export firefox --inline: sources" inlined.c \
	"$(jq -r ".shared as \$all | $frames | .[3].source | \$all.sources.filename[.] |
		\$all.stringArray[.] | sub(\".*/\"; \"\")" out)"
want "export firefox: build id" "$id" "$(jq -r '.libs[] | select(.name == "prog") | .codeId' out)"
"$so" report --flat --inline --json --sysroot root prog.stk |
	jq -r '"\(.inlined // .sym) \(.count)"' >out
has "report --flat --inline" "^innermost [0-9]" out
has "report --flat --inline" "^outer [0-9]" out
"$so" report --flat=line --json --sysroot root prog.stk | jq -r .source_line >out
for name in innermost middle outer; do
	has "report --flat=line" "inlined.c:$(line_of $name)\$" out
done
"$so" report --flat=line --full --sysroot root prog.stk >out
has "report --flat=line" "  [^ ]*inlined.c:$(line_of innermost)\$" out
"$so" stacks --json --inline --sysroot root prog.stk |
	jq -r '.frames[0] | "\(.sym) \(.line) " +
		"\(.inlined[0].sym) \(.inlined[0].line) \(.inlined | length)"' >out
want "stacks --json --inline" "outer $(line_of outer) innermost $(line_of innermost) 2" "$(cat out)"

# ---- annotated source
"$so" annotate --sysroot root prog.stk outer >out 2>err
want "annotate" 0 $?
has "annotate" '^# outer \[prog\]: innermost in 1 of 1 event \(100.00%\)$' out
has "annotate" '^# .*/inlined.c$' out
has "annotate" "^         1  100.00%  *$(line_of outer)  +middle\(\); /\* line outer \*/\$" out
has "annotate: context" "^ {21} *$(($(line_of outer) - 1))  +depth \+= 3;\$" out
has "annotate: context" "^ {21} *$(($(line_of outer) + 1))  +depth \+= 4;\$" out
has_not "annotate: another function" 'line middle|int main' out
if command -v script >/dev/null; then
	STACKONCE_PAGER='' TERM=dumb script -qec \
		"stty cols 50; $so annotate --sysroot root prog.stk outer" /dev/null </dev/null |
		tr -d '\r' >out
	has "annotate on a narrow terminal" \
		"^         1  100.00%  *$(line_of outer)  +middle\(\); /\* \$" out
else
	left_out "annotate on a terminal: script(1) is missing"
fi
"$so" annotate --json --sysroot root prog.stk outer | jq -r \
	'select(.type == "line") | "\(.line) \(.self) \(.text | ltrimstr("\t"))"' >out
want "annotate --json" "$(line_of outer) 1 middle(); /* line outer */" "$(cat out)"
"$so" annotate --children --sysroot root prog.stk main >out
has "annotate --children" '^         1  100.00%  ' out
"$so" annotate --by insn --sysroot root prog.stk outer >out
has "annotate --by insn" "^         1  100.00%  \+0x$at_outer\$" out
"$so" annotate --inline --sysroot root prog.stk outer >out
has "annotate --inline" \
	"^         1  100.00% {10}innermost \\(inlined\\) at .*inlined.c:$(line_of innermost)\$" out
"$so" annotate --inline --json --sysroot root prog.stk outer |
	jq -r 'select(.inlined) | "\(.inlined[0].sym) \(.inlined[0].line) \(.inlined[0].self)"' >out
want "annotate --inline --json" "innermost $(line_of innermost) 1" "$(cat out)"
"$so" annotate --by line --sysroot other prog.stk outer >out 2>err
want "annotate another build" 1 $?
# a source file under --sysroot comes first, and is escaped
from=$("$so" annotate --json --sysroot root prog.stk outer | jq -r 'select(.line).source')
mkdir -p "root$(dirname "$from")"
{
	yes '' | head -n $(($(line_of outer) - 1))
	printf 'evil\033[31m\n'
} >"root$from"
"$so" annotate --sysroot root prog.stk outer >out
has "annotate: escaped" "  evil\\\\x1b\[31m\$" out
touch -d '2001-01-01' "root$from"
# what is no text, or ends before the line, is no source
head -c 100 /dev/zero >"root$from"
"$so" annotate --sysroot root prog.stk outer >out
has "annotate: no text" 'inlined.c: not here$' out
has "annotate: no text" "^         1  100.00%  *$(line_of outer) *\$" out
echo short >"root$from"
"$so" annotate --sysroot root prog.stk outer >out
has "annotate: a short file" "^         1  100.00%  *$(line_of outer) *\$" out
rm "root$from"
"$make" timed.stk "$dir/root/opt/prog" none "$inner" "$in_main"
touch -d '2001-01-01' root/opt/prog
"$make" timed.stk "$dir/root/opt/prog" none "$inner" "$in_main"
"$so" annotate timed.stk outer >out
has "annotate: a newer source" 'inlined.c: newer than the program$' out

# ---- verify
verify()
{
	"$so" files --verify --json "$@" >out 2>err
	code=$?
	echo "$(jq -r '.here + " " + (.here_path // "-")' out) $code"
}
want "verify: same" "same root/opt/prog 0" "$(verify --sysroot root prog.stk)"
want "verify: other" "other - 1" "$(verify --sysroot other prog.stk)"
want "verify: gone" "gone - 0" "$(verify prog.stk)"
cp "$program" here
"$make" none.stk "$dir/here" none "$inner"
want "verify by size and time" "same $dir/here 0" "$(verify none.stk)"
mkdir -p "root$dir"
want "verify: here, but not there" "gone - 0" "$(verify --sysroot root/ none.stk)"
echo other >"root$dir/here"
want "verify: here, but another there" "other - 1" "$(verify --sysroot root/ none.stk)"
touch here
want "verify by another time" "other - 1" "$(verify none.stk)"
"$so" files --verify --sysroot root prog.stk >out
has "files --verify" '^0x[0-9a-f]{8}  file .* same  .*/opt/prog$' out

# ---- symbolize
cp prog.stk before.stk
"$so" symbolize prog.stk >out 2>err
want "symbolize without the file" 1 $?
has "symbolize without the file" '^not here +/opt/prog$' out
cmp -s prog.stk before.stk || fail "symbolize without the file changes the recording"
"$so" symbolize --sysroot other -o named.stk prog.stk >out
want "symbolize with another build" 1 $?
has "symbolize with another build" '^differs +/opt/prog$' out
"$so" symbolize --sysroot root --force -o named.stk prog.stk >out 2>err
want "symbolize" 0 $?
has "symbolize" '^2 of 2 named +/opt/prog$' out
cmp -s prog.stk before.stk || fail "symbolize -o changes the recording"
"$so" script --no-header --no-symbols named.stk >out
has "symbolized" "outer\\+0x$at_outer/" out
has "symbolized" 'main\+0x1/' out
# a pipe has no look-ahead, but must not fail
"$so" script --no-header --no-symbols - <named.stk >out
want "symbolized, from a pipe" 0 $?
chmod 640 prog.stk
"$so" symbolize --sysroot root -q prog.stk >out
want "symbolize in place" 0 $?
[ -s out ] && fail "symbolize -q: $(cat out)"
want "symbolize in place: mode" 640 "$(stat -c %a prog.stk)"
"$so" script --no-symbols prog.stk | grep -q 'outer+0x' || fail "symbolize in place: no name"
"$so" info prog.stk >/dev/null 2>err
[ -s err ] && fail "symbolized recording: $(cat err)"
cp prog.stk before.stk
"$so" symbolize --sysroot root prog.stk >out
want "symbolize again" "0 " "$? $(cat out)"
cmp -s prog.stk before.stk || fail "symbolize again changes the recording"
"$so" symbolize --sysroot root -o prog.stk prog.stk 2>err
want "symbolize to itself" 1 $?
cmp -s prog.stk before.stk || fail "symbolize to itself changes the recording"

# ---- separate debug files: names for a stripped program
objcopy --only-keep-debug root/opt/prog prog.debug
strip -s -o stripped root/opt/prog
mkdir -p stripped.root/opt "debug/.build-id/$(echo "$id" | cut -c1-2)"
mv stripped stripped.root/opt/prog
mv prog.debug "debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug"
"$make" prog.stk /opt/prog "$id" "$inner" "$in_main"
"$so" script --no-header --sysroot stripped.root prog.stk >out 2>err
has_not "stripped" outer out
"$so" symbolize --sysroot stripped.root prog.stk >out
has "symbolize stripped" '^0 of 2 named +/opt/prog$' out
"$so" script --no-header --sysroot stripped.root --debug-dir debug prog.stk >out
"$so" symbolize --sysroot stripped.root --debug-dir debug --json prog.stk >out
want "symbolize with a debug file" "found 2 2" "$(jq -r '"\(.result) \(.places) \(.named)"' out)"
"$so" script --no-symbols prog.stk | grep -q 'outer+0x' || fail "debug file: no name"

# ---- maps of running programs, which must agree with a recording's file map
cp "$program" "$dir/runs"
cp "$program" "$dir/deleted"
objcopy --remove-section .note.gnu.build-id "$program" "$dir/without"
for name in runs deleted without; do
	"./$name" "$source" &
	children="$children $!"
	eval "$name=\$!"
done
for pid in $children; do # it maps the file last
	becomes grep -q " $source\$" "/proc/$pid/maps" || fail "$source is not mapped"
done
rm deleted
inode=$(stat -c %i runs)
# shellcheck disable=SC2154 # set by eval
"$so" maps -p "$runs" >out 2>err
line="^file_map: hash=0x[0-9a-f]{8} path=$dir/runs build_id=$id"
has "maps" "$line dev=[0-9a-f]+:[0-9a-f]+ inode=$inode pids=1\$" out
has "maps" '^file_map: hash=0x[0-9a-f]{8} path=/.*libc' out
"$make" runs.stk "$dir/runs" "$id" "$inner"
want "hash of maps and script" \
	"$(sed -n "s,^file_map: hash=\(0x[0-9a-f]*\) path=$dir/runs .*,\1,p" out)" \
	"$("$so" script --ids --no-header runs.stk | sed -n 's/^ =>  <.*> : //p')"
want "maps: dev as in /proc/PID/maps" \
	"$(awk -v p="$dir/runs" '$6 == p { print $4; exit }' "/proc/$runs/maps")" \
	"$(sed -n "s,.* path=$dir/runs .* dev=\([^ ]*\) .*,\1,p" out)"
"$so" maps >all
# shellcheck disable=SC2013,SC2154
for file in $(awk '$2 ~ /x/ && $6 ~ "^/" { print $6 }' "/proc/$runs/maps" "/proc/$without/maps" |
	sort -u); do
	# containers may have other files of the same path
	want "maps: $file" 1 \
		"$(grep -F " path=$file " all | grep -c " inode=$(stat -c %i "$file") ")"
done
# shellcheck disable=SC2154
if [ -r "/proc/$deleted/map_files" ] && ls -L "/proc/$deleted/map_files/" >/dev/null 2>&1 &&
	[ "$(id -u)" -eq 0 ]; then
	has "maps: deleted" " path=$dir/deleted \\(deleted\\) build_id=$id " all
	"$so" maps --json -p "$deleted" | jq -e --arg id "$id" \
		-s 'map(select(.deleted) | .build_id) == [$id]' >/dev/null ||
		fail "maps --json: deleted"
else
	left_out "deleted files: /proc/PID/map_files needs root"
fi
has_not "maps of a file that is not executed" inlined.c all
has "maps: no build id" " path=$dir/without sha256=$(sha256sum <without | cut -c1-40) " all
"$so" maps --json | jq -e --arg p "$dir/runs" --argjson pid "$runs" \
	-s 'map(select(.path == $p and .kind == "file") | .pids) == [[$pid]]' >/dev/null ||
	fail "maps --json"
# shellcheck disable=SC2086 # words
kill $children
wait
children=
"$so" maps -p 4194303 >out 2>err # the largest possible, and so none of these
want "maps of no process" 1 $?
has "maps of no process" 'No such process' err

finish
