/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Binary search in what is sorted. */
#ifndef BISECT_H
#define BISECT_H

#include <stddef.h>

/* The first i below nr for which the condition holds, as it must for all behind it; nr: there is none. */
#define bisect__first(nr, i, condition)                   \
	({                                                \
		size_t first_ = 0, end_ = (nr), i;        \
		while (first_ < end_) {                   \
			i = first_ + (end_ - first_) / 2; \
			if (condition)                    \
				end_ = i;                 \
			else                              \
				first_ = i + 1;           \
		}                                         \
		first_;                                   \
	})

#endif /* BISECT_H */
