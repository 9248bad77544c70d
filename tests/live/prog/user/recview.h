/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording for the checkers: events with user frames as (file, offset). */
#ifndef STACKONCE_TEST_RECVIEW_H
#define STACKONCE_TEST_RECVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "elfview.h"
#include "stackonce.h"

struct recview {
	struct stk_reader *reader;
	struct stk_reader *files; /* read to its end: has the final details of files */
	struct elfview **views; /* by file number; NULL: not opened yet */
	bool *no_view;
	uint32_t nr_views;
	const char *path;
};

struct recview_event {
	uint64_t ts;
	uint32_t tid, pid;
	const char *comm, *name; /* of the event, without its system */
	const struct stk_event *event;
	enum stk_event_kind kind;
	bool none; /* no user stack */
	enum stk_stack_end end;
	unsigned int depth;
	const struct stk_frame *frames;
};

void recview__open(struct recview *r, const char *path);
void recview__close(struct recview *r);
bool recview__next(struct recview *r, struct recview_event *ret_event);

/* A field of the event's record, by the name in its format; 0 if it has no such field. */
uint64_t recview__field(const struct recview_event *e, const char *name);

/*
 * The file of a frame, opened by the path in the recording; only if build id, or inode without one,
 * match.  NULL if the file is unknown.
 */
struct elfview *recview__file(struct recview *r, uint32_t number);
/*
 * Whether the stack was truncated for lack of room.  A marker, for an interrupted frame or a guess
 * as the first frame, takes the place of a frame.
 */
bool recview__is_full(const struct recview_event *e);
/* The address for looking up a frame's function: a return address belongs to the call before it. */
uint64_t recview__pc(const struct recview_event *e, unsigned int i);
/* The function's name, or "?"; valid as long as r. */
const char *recview__function(struct recview *r, const struct recview_event *e, unsigned int i);
/* Prints the event with its stack to stdout. */
void recview__print(struct recview *r, const struct recview_event *e);

#endif /* STACKONCE_TEST_RECVIEW_H */
