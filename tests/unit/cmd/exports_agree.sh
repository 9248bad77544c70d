#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# All exports of one recording agree, see exports_agree.py.
#   exports_agree.sh STACKONCE MAKE_RECORDING GOLDEN_DIR JUDGES_DIR PYTHON [FORMAT...]
set -u
so=$(realpath "$1") make=$(realpath "$2") golden=$(realpath "$3") judges=$(realpath "$4") python=$5
here=$(realpath "$(dirname "$0")")
shift 5
# the judges stay where other tests have fetched them
XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
export XDG_CACHE_HOME
# shellcheck source=tests/unit/cmd/lib.sh
. "$(dirname "$0")/lib.sh"
export HOME="$dir" PPROF_TMPDIR="$dir"
unset PPROF_BINARY_PATH PPROF_TOOLS

"$python" -c 'import bt2' 2>/dev/null || ! [ -x /usr/bin/python3 ] || python=/usr/bin/python3
"$python" "$here/exports_agree.py" "$so" "$make" "$golden" "$judges" "$@"
