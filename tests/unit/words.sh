#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# words.sh ROOT: words that a native writer would not use, and plurals behind a number that may be 1
# (text__count() has both), stand in src/ only where tests/unit/words gives a reason.  Its rows:
# FILE | TEXT of the line | REASON.
set -u
root=$1
allowed=$root/tests/unit/words
failed=0
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
cd "$root" || exit 1
grep -rnE '\b(tell|tells|told|nobody|somebody|is none|not to be had|of who|whom)\b' src >"$found"
number='(%(z|l|ll)?[ud]|%s|" PRI[ud](32|64) "|PRI[ud](32|64))'
nouns='event|stack|frame|row|group|pair|start|end|type|line|block|file|slice|sample|profile'
nouns="($nouns|function|loss|recording|message|CPU)"
grep -rnP --include='*.[ch]' \
	"(?<!most )(?<!than )(?<!beyond )$number (more |damaged )?${nouns}e?s\\b" src >>"$found"
while IFS=: read -r file line text; do
	awk -F ' *[|] *' -v file="$file" -v text="$text" '
		!/^#/ && NF == 3 && $1 == file && index(text, $2) { ok = 1 }
		END { exit !ok }' "$allowed" || {
		echo "$file:$line:$text"
		failed=1
	}
done <"$found"
nr=$(grep -c '^[^#]' "$allowed")
echo "$nr allowed"
[ "$nr" -le 40 ] || failed=1
[ "$failed" -eq 0 ] || echo "say it otherwise, or give a reason in tests/unit/words"
exit "$failed"
