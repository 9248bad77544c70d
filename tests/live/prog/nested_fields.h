/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by both sides of nested_fields; wire.h must come first. */
#ifndef TEST_NESTED_FIELDS_H
#define TEST_NESTED_FIELDS_H

#define KEPT 16 /* records kept per CPU and side */
#define WAIT 8 /* records of the kernel that wait for their counterpart */
#define RECORD_BYTES 192 /* sizeof(fill_run.rec) */

struct kept {
	__wire_u32 next, pad;
	struct one {
		__wire_u32 size, matched;
		__wire_u8 rec[RECORD_BYTES];
	} v[KEPT];
};

/* A record of the kernel, and the records made at that time, none of which equals it. */
struct difference {
	struct one one;
	struct kept made;
};

#endif /* TEST_NESTED_FIELDS_H */
