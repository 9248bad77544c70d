/* SPDX-License-Identifier: GPL-2.0-only */
/* A check of the records that programs fill against the kernel's: what it needs, and its result. */
#ifndef NATIVE_CHECK_H
#define NATIVE_CHECK_H

#include "native_layout.h"
#include "wire.h"

/* Both records of a hit where they differed. */
struct native_pair {
	__wire_u64 is_taken; /* by a program, which sets is_complete in the end */
	__wire_u64 is_complete;
	__wire_u64 size; /* of both records */
	__wire_u64 at; /* the offset of the first word that differed */
	__wire_u64 kernel[NATIVE_ROOM / 8], own[NATIVE_ROOM / 8];
};

enum native_verdict {
	NATIVE_AGREED,
	NATIVE_CHANGED, /* they differ only in what may change between the two programs */
	NATIVE_DIFFERED,
	NATIVE_NR_VERDICTS,
	/* they were not compared: the program could not fill its record, or one was not there */
	NATIVE_UNAVAILABLE = NATIVE_NR_VERDICTS,
	NATIVE_MISSED,
};

/* Of one event type; or of all system calls at one end, whose records one program fills. */
struct native_check {
	/* Set by the recorder: masks of the bytes that a field has, by words of the record. */
	__wire_u64 fields[NATIVE_MAX_FIXED / 8];
	/* Of those that nothing can change between the two programs of one hit. */
	__wire_u64 steady[NATIVE_MAX_FIXED / 8];
	__wire_u64 steady_strings; /* all bits: the strings behind the fields are such, too */
	__wire_u64 round; /* grows before each series of comparisons */
	/* Hits still to be compared in this series; below 1 the programs do nothing. */
	__wire_s64 left;
	/* Written by the programs. */
	__wire_u64 compared[8]; /* by verdict */
	__wire_u64 agreed_ts; /* time of the latest agreement; 0: none */
	struct native_pair pair[NATIVE_NR_VERDICTS]; /* the first of each verdict but agreement */
};
static_assert(sizeof(struct native_check) % 8 == 0, "native_check ends at a word");

#endif /* NATIVE_CHECK_H */
