/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by both sides of native_run. */
#ifndef NATIVE_RUN_H
#define NATIVE_RUN_H

#include "native_layout.h"

#define GUARD 64 /* bytes on each side of the record's room that must stay as they are */
#define OBJECTS 65536 /* bytes of memory for what arguments point to */

struct run {
	__u64 size;
	__u64 task; /* the running task */
	__u64 objects; /* address of the other map's value */
	__u8 before[GUARD];
	__u8 rec[NATIVE_ROOM];
	__u8 after[GUARD];
};

#endif /* NATIVE_RUN_H */
