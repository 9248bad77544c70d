/* SPDX-License-Identifier: GPL-2.0-only */
/* What a check of records compares. */
#ifndef RECORD_NATIVE_MASKS_H
#define RECORD_NATIVE_MASKS_H

struct btf;
struct ev_format;
struct native_check;
struct native_event;

/*
 * Prepares the check of an event whose code native_code__make() has made: which bytes are fields,
 * and which of them may change between the programs of one hit.  -EOPNOTSUPP: the kernel's struct
 * pt_regs is unexpected.
 */
int native_masks__make(const struct native_event *e, const struct ev_format *fmt,
		       const struct btf *btf, struct native_check *ret_check);

#endif /* RECORD_NATIVE_MASKS_H */
