/* SPDX-License-Identifier: GPL-2.0-only */
/* A check of the records that programs fill against the kernel's: what it needs, and its result. */
#ifndef NATIVE_CHECK_H
#define NATIVE_CHECK_H

#include "native_layout.h"
#include "wire.h"

/* Of one event type. */
struct native_check {
	/* Set by the recorder: masks of the bytes that a field has, by words of the record. */
	__wire_u64 fields[NATIVE_MAX_FIXED / 8];
	/* Of those that nothing can change between the two programs of one hit. */
	__wire_u64 steady[NATIVE_MAX_FIXED / 8];
	__wire_u64 steady_strings; /* all bits: the strings behind the fields are such, too */
	__wire_u32 sp_at; /* offset of the stack pointer in struct pt_regs */
	__wire_u32 at; /* offset in the record of the first word that differed */
	__wire_u64 kernel, own; /* that word */
	/* Written by the programs. */
	__wire_u64 distance; /* of the stack pointer from the context; 0: not yet learnt */
	__wire_u64 agreed, differed;
	__wire_u64 changed; /* differed only in what may change meanwhile */
	__wire_u64 unavailable; /* the program could not fill the record */
	__wire_u64 missed; /* hits of which one of the two records was not there */
};
static_assert(sizeof(struct native_check) == 336, "native_check has no hidden padding");

#endif /* NATIVE_CHECK_H */
