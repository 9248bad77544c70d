/* SPDX-License-Identifier: GPL-2.0-only */
/* What the two sides of nested_fields share; wire.h comes before. */
#ifndef TEST_NESTED_FIELDS_H
#define TEST_NESTED_FIELDS_H

#define KEPT 16 /* records of a CPU and side that are remembered */
#define WAIT 8 /* of the kernel's so many wait for their like */
#define RECORD_BYTES 192 /* sizeof(fill_run.rec) */

struct kept {
	__wire_u32 next, pad;
	struct one {
		__wire_u32 size, matched;
		__wire_u8 rec[RECORD_BYTES];
	} v[KEPT];
};

/* A record of the kernel's, and those made in its time, of which none equals it. */
struct difference {
	struct one one;
	struct kept made;
};

#endif /* TEST_NESTED_FIELDS_H */
