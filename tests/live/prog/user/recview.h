/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording as the checkers go through it: events with user frames as (file, offset). */
#ifndef STACKONCE_TEST_RECVIEW_H
#define STACKONCE_TEST_RECVIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "elfview.h"
#include "stackonce.h"

struct recview {
	struct stk_reader *reader;
	struct stk_reader *files; /* at its end: all that is known of files in the end */
	struct elfview **views; /* by file number, NULL: not looked at yet */
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

/* A field of the event's record, by the name in its format; 0 where it has none. */
uint64_t recview__field(const struct recview_event *e, const char *name);

/*
 * The file of a frame, from the path the recording has, and only if build id (or inode, where it
 * has none) agree; NULL where it is not known.
 */
struct elfview *recview__file(struct recview *r, uint32_t number);
/*
 * Whether the stack was cut because there was no room for more.  What marks a frame as interrupted, or the
 * first as guessed, takes the place of a frame.
 */
bool recview__is_full(const struct recview_event *e);
/* Where to look a frame's function up: a return address belongs to the call before it. */
uint64_t recview__pc(const struct recview_event *e, unsigned int i);
/* The function's name, or "?"; lives as long as r. */
const char *recview__function(struct recview *r, const struct recview_event *e, unsigned int i);
/* The event with its stack, to stdout. */
void recview__print(struct recview *r, const struct recview_event *e);

#endif /* STACKONCE_TEST_RECVIEW_H */
