#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# recipes.sh ROOT: applies the recipes of ARCHITECTURE.md that have a folder in tests/recipes to a
# copy of the tree, one after the other, builds it incrementally, and runs what came of it.
#
# A folder has the files that the recipe adds, as they lie in the tree, and
#   title    the heading of the recipe in ARCHITECTURE.md
#   rows     FILE TAB PATTERN TAB ROW: the row goes into the file before its first line that matches
#   check    a script, run with the new stackonce as $STACKONCE and the tree as $ROOT
# What differs from the tree before must be among the files that the recipe names in `backquotes`.
set -u
LC_ALL=C
export LC_ALL

root=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0

fail()
{
	echo "FAIL: $*"
	failed=1
}

# named_by TITLE NAME: the files that the recipe names, with its NAME
named_by()
{
	awk -v title="### $1" -v name="$2" '
		/^##/ { in_it = $0 == title }
		in_it {
			while (match($0, /`[^` ]+`/)) {
				file = substr($0, RSTART + 1, RLENGTH - 2)
				gsub(/NAME/, name, file)
				print file
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' "$root/ARCHITECTURE.md"
}

build()
{
	ninja -C build src/cmd/stackonce >"$tmp/log" 2>&1 || {
		grep -A5 -E 'FAILED|error' "$tmp/log"
		return 1
	}
}

# apply FOLDER: its files and rows
apply()
{
	(cd "$1/tree" 2>/dev/null && find . -type f) | while read -r file; do
		mkdir -p "$(dirname "$file")"
		cp "$1/tree/$file" "$file"
	done
	[ ! -f "$1/rows" ] || while IFS='	' read -r file pattern row; do
		awk -v pattern="$pattern" -v row="$row" '
			!done && $0 ~ pattern { print row; done = 1 }
			{ print }
			END { exit !done }' "$file" >"$tmp/new" && cat "$tmp/new" >"$file" ||
			echo "FAIL: $file has no line '$pattern'"
	done <"$1/rows"
}

recipe()
{
	title=$(cat "$1/title")
	name=$(cat "$1/name")
	named_by "$title" "$name" | sort -u >"$tmp/named"
	[ -s "$tmp/named" ] || { fail "ARCHITECTURE.md has no recipe '$title'"; return; }
	apply "$1"
	git add -A
	git diff --cached --name-only >"$tmp/changed"
	grep -vxF -f "$tmp/named" "$tmp/changed" | while read -r file; do
		echo "FAIL: '$title' touches $file, which it does not name"
	done >"$tmp/outside"
	if [ -s "$tmp/outside" ]; then
		cat "$tmp/outside"
		failed=1
	fi
	build || { fail "'$title' does not build"; return; }
	STACKONCE=$tmp/tree/build/src/cmd/stackonce ROOT=$root sh "$1/check" ||
		fail "'$title' does not work"
	sh tests/unit/layers.sh >"$tmp/log" || {
		cat "$tmp/log"
		fail "'$title' is against the layers"
	}
	git -c user.name=x -c user.email=x commit -qm "$title"
	echo "$title: $(wc -l <"$tmp/changed") files: $(tr '\n' ' ' <"$tmp/changed")"
}

mkdir "$tmp/tree" && cd "$tmp/tree" || exit 1
(cd "$root" && git ls-files -z 2>/dev/null | xargs -0 tar cf -) | tar xf - || exit 1
git init -q && git add -A && git -c user.name=x -c user.email=x commit -qm tree || exit 1
meson setup build >"$tmp/log" 2>&1 || { tail -5 "$tmp/log"; exit 1; }
build || exit 1
for folder in "$root"/tests/recipes/*/; do
	recipe "${folder%/}"
done
exit "$failed"
