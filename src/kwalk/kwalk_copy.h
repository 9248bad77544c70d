/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the program that copies kernel memory is asked, and where it puts the bytes. */
#ifndef KWALK_COPY_H
#define KWALK_COPY_H

#include <linux/types.h>

struct kwalk_copy {
	__u64 from;
	__u32 len; /* at most sizeof(struct kwalk_copied) */
	__s32 err; /* of bpf_probe_read_kernel() */
};

struct kwalk_copied {
	__u8 bytes[1 << 20];
};

#endif /* KWALK_COPY_H */
