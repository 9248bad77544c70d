# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Sourced, when $so is known, by tests that also run `view`, whose page a build may lack.  They then
# leave that out, and count as skipped.
if "${so:?}" view -o /dev/null /dev/null 2>&1 | grep 'built without the page'; then
	has_page=false
else
	has_page=true
fi

# is_left_out ARGS...: these call `view`, which needs its page for all but its help
is_left_out()
{
	$has_page && return 1
	case " $* " in
	*' --help '*) return 1 ;;
	*' view '*) return 0 ;;
	esac
	return 1
}

# end: the end of the test, with $failed failures
end()
{
	[ "${failed:?}" -eq 0 ] || exit 1
	$has_page || exit 77
	exit 0
}
