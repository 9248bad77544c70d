/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by numbered.c and numbered_check.c. */
#ifndef NUMBERED_H
#define NUMBERED_H

#define NUMBERED_FIRST 0x10000000 /* not a descriptor */

#endif /* NUMBERED_H */
