/* SPDX-License-Identifier: GPL-2.0-only */
/* What two records of one hit differed in. */
#ifndef RECORD_NATIVE_DIFFERENCE_H
#define RECORD_NATIVE_DIFFERENCE_H

struct ev_format;
struct native_check;
struct strbuf;

/*
 * Appends the field in which the records that a check has kept differ, and both values, which may
 * have any bytes: the first records that differed, or else those that had changed.
 */
void native_difference__print(const struct native_check *n, const struct ev_format *fmt,
			      struct strbuf *text);

#endif /* RECORD_NATIVE_DIFFERENCE_H */
