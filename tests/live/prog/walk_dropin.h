/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WALK_DROPIN_H
#define WALK_DROPIN_H

#include <linux/types.h>

/* Programs that walk. */
enum kind { AT_EVENT, AT_RAW, AT_FUNCTION, AT_SAMPLE, KINDS };

#define WALK_LINES 4096 /* most lines of EVENTS */
#define WALK_NO_RAW WALK_LINES /* flag: no program at the raw tracepoint */
#define WALK_FRAMES 128

/* How often programs of both types at tracepoints got a stack. */
struct seen {
	__u64 nr[AT_RAW + 1];
};

struct place {
	__u64 ip;
};

/* The first stack that differed, terminated by 0. */
struct difference {
	__u64 by_walk[WALK_FRAMES], by_kernel[WALK_FRAMES];
};

#endif /* WALK_DROPIN_H */
