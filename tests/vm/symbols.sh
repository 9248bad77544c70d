#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# symbols.sh STACKONCE FILE: the distinct stacks of the test program's system calls and forks, as
# symbol+offset, sorted; they must not depend on the kernel's load address.
set -eu
"$1" stacks --json --comm forktree --event raw_syscalls:sys_enter "$2" |
	jq -r '[.frames[] | "\(.sym)+\(.off)"] | join(" ")' | sort -u
"$1" stacks --json --comm forktree --event sched:sched_process_fork "$2" |
	jq -r '[.frames[] | "\(.sym)+\(.off)"] | join(" ")' | sort -u
