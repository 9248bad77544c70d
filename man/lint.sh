#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lint.sh STACKONCE HEADER PAGE...: checks that the pages are valid mdoc(7) and that the pages they
# refer to exist; that each command has a page, whose source beside this script describes exactly
# the options of the command; and that libstackonce(3) has every function of the header.
set -u
LC_ALL=C
export LC_ALL

so=$1
header=$2
shift 2
here=$(dirname "$0")
failed=0

fail()
{
	echo "$*"
	failed=1
}

pages=' '
for page; do
	pages="$pages${page##*/} "
done

# page_of NAME PAGE...: prints the path of the page NAME, or nothing.
page_of()
{
	name=$1
	shift
	for p; do
		[ "${p##*/}" = "$name" ] && echo "$p"
	done
}

for page; do
	for ref in $(sed -n 's/^\.\(It \)*Xr \([^ ]*\) \([0-9]\).*/\2.\3/p' "$page"); do
		case $ref in
		stackonce* | libstackonce* | stk-*) ;;
		*) continue ;;
		esac
		case $pages in
		*" $ref "*) ;;
		*) fail "$page: refers to $ref, which does not exist" ;;
		esac
	done
done

# .Op extends to the end of the line: in a list it would enclose the comma and what follows.
for page; do
	grep -Hn '^\.It .*\<Op\> .* , ' "$page" && fail "$page: use .Oo and .Oc in such a list"
done

commands=$("$so" help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "'$so help' lists no commands"
for command in $commands; do
	[ "$command" = help ] && continue
	page=$(page_of "stackonce-$command.1" "$@")
	if [ -z "$page" ]; then
		fail "stackonce-$command.1 is missing"
		continue
	fi
	"$so" help --options | awk -v check=1 -v command="$command" -f "$here/options.awk" - \
		"$here/stackonce-$command.1" >/dev/null || failed=1
done

main=$(page_of stackonce.1 "$@")
for command in $commands; do
	[ "$command" = help ] && continue
	grep -q "^\.It Xr stackonce-$command 1$" "$main" || fail "$main: does not list $command"
	grep -q '^\.Xr stackonce 1' "$(page_of "stackonce-$command.1" "$@")" ||
		fail "stackonce-$command.1: does not refer to stackonce(1)"
done

# The pages have the range of every number.
missing=$("$so" help --options |
	awk -F'\t' '$7 != "-" { sub(/-/, " ", $7); print $1, $3, $7 }' |
	while read -r command option first last; do
		grep -q "^The value is from $first to $last\.$" \
			"$(page_of "stackonce-$command.1" "$@")" ||
			echo "stackonce-$command.1: the range of $option is missing"
	done)
[ -z "$missing" ] || fail "$missing"

page=$(page_of libstackonce.3 "$@")
for function in $(grep -oE '\bstk_[a-z_]+ *\(' "$header" | tr -d ' (' | sort -u); do
	grep -q "^\.Fn $function " "$page" || fail "$page: $function() is missing"
done

# This is last: without mandoc, everything else is checked, but the result is a skip, not a pass.
if command -v mandoc >/dev/null; then
	for page; do
		mandoc -T lint -W warning "$page" || failed=1
	done
elif [ "$failed" -eq 0 ]; then
	echo "skipped: mandoc is missing, which checks the form of the pages"
	exit 77
fi
exit "$failed"
