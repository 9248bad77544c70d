/* SPDX-License-Identifier: GPL-2.0-only */
/* What numbered.c calls and numbered_check.c looks for. */
#ifndef NUMBERED_H
#define NUMBERED_H

#define NUMBERED_FIRST 0x10000000 /* no descriptor */

#endif /* NUMBERED_H */
