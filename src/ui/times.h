/* SPDX-License-Identifier: GPL-2.0-only */
/* Times as people read them. */
#ifndef CMD_TIMES_H
#define CMD_TIMES_H

#include <stdint.h>

#include "strbuf.h"

/* "1.23 ms" and the like, three digits, right-aligned in width. */
void out__ns(struct strbuf *b, uint64_t ns, int width);

#endif /* CMD_TIMES_H */
