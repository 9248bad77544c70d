/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is exported: the events of a recording, or those that the user selected.  A format gets
 * either the events or, counted by group, their stacks.
 */
#ifndef EXPORT_SOURCE_H
#define EXPORT_SOURCE_H

#include <errno.h>
#include <stdbool.h>

#include "stackonce.h"

struct export_stacks;
struct stack_fold;
struct stack_place;
struct user_names;

/* A pair of a start and an end event, as latency measures it. */
struct export_pair {
	unsigned int kind; /* number of what was asked for, from 0 */
	const char *kind_name; /* of the preset; "pairs" */
	const char *name; /* of its group; escaped */
	enum { PAIR_OF_ANY, PAIR_OF_THREAD, PAIR_OF_CPU } of; /* what its two ends have in common */
	struct export_pair_end {
		uint64_t ts;
		uint32_t tid, pid, cpu, kstack, ustack;
		uint32_t type; /* index of the event type */
		const char *comm;
	} start, end;
};

/* A format that takes pairs sets these before it asks for the first event. */
struct export_pairs {
	/* Takes each pair ahead of the event that ends it; 0, or an error that ends the export. */
	int (*take)(void *ctx, const struct export_pair *pair);
	void *ctx;
};

struct export_source {
	struct stk_reader *reader; /* opened for events and not read from yet */
	bool is_selection; /* next() leaves out events */
	/*
	 * Returns as stk_reader__next(), after a message if that failed, and -ECANCELED, after a
	 * message, if events cannot be selected; NULL: all events.
	 */
	int (*next)(void *ctx, const struct stk_event **ret_event);
	/* Whether a selected event may be among the lost ones; NULL: of every loss. */
	bool (*has_loss)(void *ctx, const struct stk_loss *loss);
	/*
	 * Counts the events as the options say; 0, or -ECANCELED after a message.  Of a damaged
	 * recording, ret_stacks has what is before the damage, which was logged.
	 */
	int (*count)(void *ctx, struct export_stacks *ret_stacks);
	/*
	 * Formats that group the events and have them one by one: counts one, and returns 1 and its
	 * group, stacks and weight; 0: it has no weight, and is left out; or a negative errno.
	 * count() is to be called after the last one.
	 */
	int (*place)(void *ctx, const struct stk_event *e, struct stack_place *ret_place);
	struct stack_fold *fold; /* for these: the frames of the stacks */
	bool by_thread, by_cpu; /* whether groups have events of one thread, of one CPU */
	/*
	 * Formats that export each recording on its own: 1, and reader is that of the next one; 0:
	 * no more follow; or a negative errno after a message.
	 */
	int (*next_recording)(void *ctx);
	struct export_pairs *pairs; /* NULL: none */
	void *ctx;
	struct user_names *names; /* of user functions, for formats that name frames */
	/* Options of clickhouse: the table whose rows are wanted, or NULL; the schema. */
	const char *rows;
	bool schema;
};

/* -ECANCELED: nothing may be written, as events are missing of what could be read. */
static inline int export_source__next(const struct export_source *src,
				      const struct stk_event **ret_event)
{
	int n = src->next ? src->next(src->ctx, ret_event) :
			    stk_reader__next(src->reader, ret_event);

	return n == -ENOMEM ? -ECANCELED : n;
}

/* The next loss that began by `until`, as stk_reader__next_loss() returns it. */
static inline int export_source__next_loss(const struct export_source *src, uint64_t until,
					   struct stk_loss *ret_loss)
{
	int n;

	while ((n = stk_reader__next_loss(src->reader, until, ret_loss)) == 1)
		if (!src->has_loss || src->has_loss(src->ctx, ret_loss))
			break;
	return n;
}

/*
 * A few bytes of a recording may refer to a large record or stack many times.  Beyond what most
 * events take, the bytes that are written of an event are work that the recording has to pay for.
 * -ENOBUFS.
 */
#define EXPORT_FREE_BYTES 1024
#define EXPORT_WORK_BYTES 4 /* that cost 1 */

static inline int export_source__charge_beyond(const struct export_source *src, size_t bytes,
					       size_t free_bytes)
{
	return bytes > free_bytes ? stk_reader__charge(src->reader, 0,
						       (bytes - free_bytes) / EXPORT_WORK_BYTES) :
				    0;
}

static inline int export_source__charge(const struct export_source *src, size_t bytes)
{
	return export_source__charge_beyond(src, bytes, EXPORT_FREE_BYTES);
}

/* A format that takes events and losses one by one; both return 0, or an error that ends it. */
struct export_taker {
	int (*event)(void *ctx, const struct stk_event *e);
	int (*loss)(void *ctx, const struct stk_loss *loss);
	void *ctx;
};

/*
 * Hands out all events, each after the losses that began by then.  *ret_damage: why the recording
 * ends early, after a message, or 0; what was handed out is to be written.  Returns the first error
 * of the format, or one after a message.
 */
int export_source__each(const struct export_source *src, const struct export_taker *taker,
			int *ret_damage);

static inline int export_source__count(const struct export_source *src,
				       struct export_stacks *ret_stacks)
{
	return src->count(src->ctx, ret_stacks);
}

static inline int export_source__next_recording(const struct export_source *src)
{
	return src->next_recording ? src->next_recording(src->ctx) : 0;
}

/* Logs that writing to path failed; the budget is that of the recording.  Returns err. */
int export__failed(const struct stk_reader *r, const char *path, int err);

/* The name of a frame's function as it is shown, valid as long as src; NULL: unknown. */
const char *export_source__function(const struct export_source *src, const struct stk_frame *f);

#endif /* EXPORT_SOURCE_H */
