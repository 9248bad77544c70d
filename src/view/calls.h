/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of events as one tree of functions, outermost first: user frames, then those of the
 * kernel.  Where a stack is not complete, a marker says why.
 */
#ifndef VIEW_CALLS_H
#define VIEW_CALLS_H

#include <stdint.h>

#include "analyze/key_table.h"
#include "stackonce.h"
#include "string_table.h"
#include "strbuf.h"

struct export_frames;
struct user_names;

enum view_frame_kind { VIEW_KERNEL, VIEW_USER, VIEW_JIT, VIEW_MARKER };

/* Functions of the same name, kind and file are one. */
struct view_frame {
	uint32_t name, file; /* numbers of strings */
	uint32_t kind;
};

struct view_node {
	uint32_t parent; /* node + 1; 0: the root */
	uint32_t frame;
};

/* A tree of zeroes is to be initialized. */
struct view_calls {
	struct stk_reader *r;
	struct string_table *strings; /* borrowed */
	struct export_frames *named;
	uint32_t *known; /* by number in named: frame + 1; 0: not yet */
	uint32_t nr_known;
	struct key_table frames; /* struct view_frame */
	struct key_table nodes; /* struct view_node; parents come before children */
	struct key_table stacks; /* of two stack numbers -> node + 1 */
	struct strbuf text;
	uint64_t work; /* steps so far */
};

/* r, names and strings are borrowed.  -ENOMEM. */
int view_calls__init(struct view_calls *c, struct stk_reader *r, struct user_names *names,
		     struct string_table *strings);
/* The node + 1 at which the stacks of an event end; 0: it has none.  -ENOMEM, -ENOBUFS. */
int view_calls__find(struct view_calls *c, uint32_t kstack, uint32_t ustack, uint32_t *ret_node);
const struct view_frame *view_calls__frame(const struct view_calls *c, uint32_t frame);
const struct view_node *view_calls__node(const struct view_calls *c, uint32_t node);
uint64_t view_calls__memory(const struct view_calls *c); /* bytes, without those of named */
void view_calls__clear(struct view_calls *c);

#endif /* VIEW_CALLS_H */
