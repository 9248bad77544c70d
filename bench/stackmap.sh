#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What looking a stack up costs, against bpf_get_stack() alone and bpf_get_stackid().
exec "$BUILD/bench/stackmap/stackmap_bench" "$@"
