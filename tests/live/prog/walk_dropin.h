/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WALK_DROPIN_H
#define WALK_DROPIN_H

#include <linux/types.h>

#define WALK_EVENTS 4096 /* tracepoints at most */
#define WALK_OTHERS 1024 /* functions, CPUs */
#define WALK_FRAMES 128

/* Programs that walk. */
enum kind { AT_EVENT, AT_RAW, AT_FUNCTION, AT_SAMPLE, KINDS };

struct place {
	__u64 ip;
};

/* The first stack that differed.  0 after the last word. */
struct difference {
	__u64 by_walk[WALK_FRAMES], by_kernel[WALK_FRAMES];
};

#endif /* WALK_DROPIN_H */
