#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The cost of a stack map lookup, compared with bpf_get_stack() alone and bpf_get_stackid().
exec "$BUILD/bench/stackmap/stackmap_bench" "$@"
