/* SPDX-License-Identifier: GPL-2.0-only */
/* What a check of records compares. */
#ifndef RECORD_NATIVE_MASKS_H
#define RECORD_NATIVE_MASKS_H

#include <stdbool.h>

struct ev_format;
struct native_check;
struct native_event;

/*
 * Prepares the check of an event whose code native_code__make() has made: which bytes are fields,
 * and which of them may change between the programs of one hit.
 */
void native_masks__make(const struct native_event *e, const struct ev_format *fmt,
			struct native_check *ret_check);

/* The same for the records of raw_syscalls:sys_enter or sys_exit. */
void native_masks__make_call(bool is_exit, struct native_check *ret_check);

#endif /* RECORD_NATIVE_MASKS_H */
