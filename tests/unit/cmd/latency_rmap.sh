#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Compares the latencies of the walks in tests/golden/rmap.stk with those that jq computes:
#   latency_rmap.sh STACKONCE RECORDING
# The key of a walk is folio and rwc; the percentile q of N sorted durations is number N * q,
# rounded up.
set -eu
stackonce=$1 recording=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$stackonce" script --json "$recording" >"$dir/events"
jq -c -n 'reduce inputs as $e ({open: {}, ns: {}, bad: 0};
		($e.fields | "\(.folio_addr) \(.rwc_addr)") as $walk |
		($e.fields | "\(.page_type) \(.locked)") as $group |
		if $e.event == "rmap:rmap_walk_start" then
			if .open[$walk] then .bad += 1 else . end | .open[$walk] = $e.ts
		elif .open[$walk] then
			.ns[$group] += [$e.ts - .open[$walk]] | del(.open[$walk])
		else
			.bad += 1
		end) |
	if .bad > 0 or (.open | length) > 0 then error("unpaired walks") else . end |
	.ns | to_entries[] | (.value | sort) as $v | ($v | length) as $n |
	[.key, $n, ($v | add), $v[0], $v[($n * 0.5 | ceil) - 1], $v[($n * 0.9 | ceil) - 1],
		$v[($n * 0.99 | ceil) - 1], $v[-1]]' "$dir/events" | sort >"$dir/want"
"$stackonce" latency --preset rmap --json "$recording" >"$dir/latency"
jq -c 'select(.type == "group") | ["\(.by.page_type) \(.by.locked)", .count, .sum_ns, .min_ns,
	.p50_ns, .p90_ns, .p99_ns, .max_ns]' "$dir/latency" | sort >"$dir/got"
diff -u "$dir/want" "$dir/got" || {
	echo "FAILED: latency does not match the events"
	exit 1
}
groups=$(cut -d, -f1 "$dir/got" | tr -d '["' | tr '\n' ',')
[ "$groups" = 'anon 0,anon 1,file 0,file 1,ksm 0,' ] || {
	echo "FAILED: groups $groups"
	exit 1
}
starts=$(grep -c rmap_walk_start "$dir/events")
jq -e --argjson n "$starts" 'select(.type == "accounting") |
	.starts == $n and .ends == $n and .paired == $n and .open == 0' "$dir/latency" \
	>/dev/null || {
	echo "FAILED: not all of $starts walks are paired"
	exit 1
}
echo "$starts walks, $(wc -l <"$dir/got") groups"
