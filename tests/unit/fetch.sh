#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# npm/fetch.sh without a registry: what is in the cache is not asked for, what is missing is a
# skip, and what is not the pinned file is refused.
#   fetch.sh FETCH
set -u
fetch=$(realpath "$1")
real=${XDG_CACHE_HOME:-$HOME/.cache}
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/cmd/lib.sh"

# expect CODE PATTERN ARGUMENTS: how it exits, and what it prints
expect()
{
	want=$1 pattern=$2
	shift 2
	PATH=$dir/bin:$PATH sh "$fetch" "$@" >out 2>&1
	code=$?
	[ "$code" -eq "$want" ] || fail "$*: exit $code, not $want"
	grep -q "$pattern" out || fail "$*: $(cat out)"
}

# fake_curl BODY: the commands that are run in place of curl
fake_curl()
{
	mkdir -p bin
	printf '#!/bin/sh\n%s\n' "$1" >bin/curl
	chmod +x bin/curl
}

fake_curl 'exit 6'
XDG_CACHE_HOME=$dir/empty expect 77 'd3-array.*no answer' d3-array
# shellcheck disable=SC2016 # words of the stand-in
fake_curl 'while [ "$1" != -o ]; do shift; done; echo another file >"$2"'
XDG_CACHE_HOME=$dir/empty expect 1 'not the file whose checksum' d3-array
[ -z "$(ls "$dir/empty/stackonce/npm")" ] || fail "a refused file is left behind"
expect 2 "no package 'left-pad'" left-pad
fake_curl "touch '$dir/asked'; exit 6"
if ls -d "$real"/stackonce/npm/d3-array-* >/dev/null 2>&1; then
	XDG_CACHE_HOME=$real expect 0 '/d3-array-' d3-array
	[ ! -e asked ] || fail "the registry was asked for what is in the cache"
else
	left_out "what is in the cache: d3-array is not"
fi
finish
