/* SPDX-License-Identifier: GPL-2.0-only */
/* The types of the running kernel. */
#ifndef RECORD_KERNEL_TYPES_H
#define RECORD_KERNEL_TYPES_H

struct btf;

/* As btf__load_vmlinux_btf(): NULL and errno on failure; the caller frees it. */
struct btf *kernel_types__load(void);

#endif /* RECORD_KERNEL_TYPES_H */
