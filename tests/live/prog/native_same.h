/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by both sides of native_same. */
#ifndef NATIVE_SAME_H
#define NATIVE_SAME_H

#define MAX_CHECKS 64 /* events */

#endif /* NATIVE_SAME_H */
