/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an answer needs of a recording: says which events or fields are missing and how to record
 * them.  The event types of a recording are known once it has been read; a recorder's file has them
 * before the first event.
 */
#ifndef UI_NEED_H
#define UI_NEED_H

#include <stdbool.h>

struct preset;
struct reading;

/*
 * globs ends with NULL.  An entry may be several globs separated by commas: one that matches is
 * enough.  how: options of record, or NULL for -e with what is missing.  CMD_FAILURE, after a
 * message, if the recording has no event type for an entry.
 */
int need__events(const struct reading *rd, const char *const *globs, const char *how);
/* The same for an answer that only counts: recordings of some CPUs do. */
int need__counted(const struct reading *rd, const char *const *globs, const char *how);
/* The same as the first for events without which there is an answer, but this is unknown: warns. */
void need__useful(const struct reading *rd, const char *const *globs, const char *how,
		  const char *unknown);
/* CMD_FAILURE, after a message, if no selected event has the field. */
int need__field(struct reading *rd, const char *name);
/*
 * Checks -e: CMD_FAILURE, after a message, if none of its globs matches an event type.  Warns if
 * some of them do not.
 */
int need__selected(const struct reading *rd);
/*
 * Checks --filter: CMD_FAILURE, after a message, if a filter can be applied to none of the event
 * types that it is for.  At the end, warns about types to which it cannot, and about events without
 * fields: these are not selected.
 */
int need__filters(struct reading *rd, bool at_end);
/* For an empty answer: warns if the preset needs all tasks and the recording has selected ones. */
void need__all_tasks(const struct reading *rd, const struct preset *p);

#endif /* UI_NEED_H */
