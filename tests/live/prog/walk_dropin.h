/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WALK_DROPIN_H
#define WALK_DROPIN_H

#include <linux/types.h>

/* Programs that walk. */
enum kind { AT_EVENT, AT_RAW, AT_FUNCTION, AT_SAMPLE, KINDS };

struct place {
	__u64 ip;
};

#endif /* WALK_DROPIN_H */
