/* SPDX-License-Identifier: GPL-2.0-only */
/* What programs with a hole for generated instructions and the generator have in common. */
#ifndef NATIVE_LAYOUT_H
#define NATIVE_LAYOUT_H

#define NATIVE_HOLE 160 /* instructions */
#define NATIVE_MAX_FIXED 128 /* bytes of the fixed part of a record, struct trace_entry included */
#define NATIVE_ROOM 512 /* bytes that the instructions may write, from the record's start */

/* Whether interrupts are off where the event occurs. */
enum native_irqs {
	NATIVE_IRQS_ASK, /* either may be: only the kernel knows */
	NATIVE_IRQS_OFF,
	NATIVE_IRQS_ON,
};

#endif /* NATIVE_LAYOUT_H */
