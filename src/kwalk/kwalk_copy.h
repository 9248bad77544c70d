/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Requests to the programs that read kernel memory for the loader, and their answers. */
#ifndef KWALK_COPY_H
#define KWALK_COPY_H

#include <linux/types.h>

struct kwalk_copy {
	__u64 from;
	__u32 len; /* at most KWALK_PART, */
	__u32 to; /* and so is this offset in struct kwalk_copied */
	__s32 err; /* of bpf_probe_read_kernel() */
	__u32 pad;
};

struct kwalk_symbol {
	char name[32];
	char text[64]; /* "NAME+0x0/0xSIZE", if it is a function */
	__u64 addr;
	__s32 err; /* of bpf_kallsyms_lookup_name(): -2: no such symbol; -1: hidden */
	__u32 pad;
};

/* Offsets of members of struct module, in bytes. */
struct kwalk_module_layout {
	__u32 list; /* 0, here and below: the member is missing in this kernel */
	__u32 state; /* 0 is its offset: it is the first member */
	__u32 text, size; /* of the first section */
	__u32 ips, entries, nr; /* ORC tables */
};

struct kwalk_list {
	__u64 head; /* address of the kernel's list of modules */
	struct kwalk_module_layout module;
	__u32 nr; /* number of struct kwalk_found */
	__s32 err; /* of bpf_probe_read_kernel(); -7: too many */
};

/* What a program that is called for a raw tracepoint sees. */
struct kwalk_call {
	__u64 context;
	__u64 frame; /* R10: address of the saved rbp, just below the return address */
	__u64 words[8]; /* of the stack, innermost first */
};

/* A module, without its init section, which the kernel frees. */
struct kwalk_found {
	__u64 text, ips, entries;
	__u32 size; /* of text, bytes */
	__u32 nr; /* of ips and entries; 0: none, as in kernels with frame pointers */
	__u32 state; /* enum module_state */
	__u32 pad;
};

#define KWALK_PART (512 << 10)

struct kwalk_copied {
	__u8 bytes[2 * KWALK_PART];
};

#endif /* KWALK_COPY_H */
