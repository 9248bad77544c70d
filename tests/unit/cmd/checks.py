# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of exports count: comparisons, and those that failed."""
import sys

failed = 0
checked = 0


def check(what, want, got):
    global failed, checked
    checked += 1
    if want != got:
        failed += 1
        print(f"FAILED: {what}: {got!r} instead of {want!r}")


def end(passed=0):
    """Exits, with `passed` if no comparison failed."""
    print(f"{checked} checks, {failed} failed")
    sys.exit(1 if failed else passed)
