/* SPDX-License-Identifier: GPL-2.0-only */
/* Which kernel runs, as a key of what is made from it. */
#ifndef RECORD_KERNEL_ID_H
#define RECORD_KERNEL_ID_H

#include <stdint.h>

/* Its build id, with zeros behind.  A negative errno: it has none. */
int kernel_id__read(uint8_t ret_id[64]);

#endif /* RECORD_KERNEL_ID_H */
