/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a CPU that were written since its last block, with all that they have but the time.
 *
 * Events repeat: the same tasks pass the same places, with the same values.  A record in the ring
 * that equals an earlier one has the same task, stacks and fields, so all that has been found for
 * that one is valid for it, too.  What an event is also depends on the names of tasks; the
 * generation changes with them.
 */
#ifndef RECORD_EVENT_MEMO_H
#define RECORD_EVENT_MEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "event_ring.h"
#include "trace/write/writer.h"
#include "wire.h"

#define EVENT_MEMO_EVENTS 256 /* by the upper 8 bits of a hash */
#define EVENT_MEMO_WORDS 16 /* of an event, at most */
#define EVENT_MEMO_TIME 1 /* the word with the time */

struct event_memo {
	uint64_t generation;
	uint32_t last; /* event that was found or added */
	struct known_event {
		uint64_t w[EVENT_MEMO_WORDS]; /* with the generation in place of the time */
		struct stk_writer_again again;
		uint32_t next[2]; /* events that followed this one: the last one first */
	} events[EVENT_MEMO_EVENTS];
};

static_assert(offsetof(struct wire_event, ts) == EVENT_MEMO_TIME * sizeof(uint64_t),
	      "the word of the time");

static inline size_t event_memo__words(const struct wire_event *e)
{
	return event_ring__size((const struct wire_head *)e) / sizeof(uint64_t);
}

/* Where this event is, if it is known. */
static inline uint32_t event_memo__place(const struct wire_event *e)
{
	static const uint64_t factors[EVENT_MEMO_WORDS] = {
		0x9e3779b97f4a7c15, 0,
		0xbf58476d1ce4e5b9, 0x94d049bb133111eb,
		0xd6e8feb86659fd93, 0xa0761d6478bd642f,
		0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3,
		0x589965cc75374cc3, 0x1d8e4e27c47d124f,
		0xeb44accab455d165, 0x9c6e6877736c46e3,
		0x2127599bf4325c37, 0x880355f21e6d1965,
		0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53,
	};
	const uint64_t *w = (const uint64_t *)e;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < event_memo__words(e); i++)
		hash += w[i] * factors[i];
	return hash >> 56;
}

static inline bool event_memo__is(const struct event_memo *m, uint32_t i,
				  const struct wire_event *e)
{
	const uint64_t *known = m->events[i].w, *w = (const uint64_t *)e;
	const size_t rest = EVENT_MEMO_TIME + 1;

	return known[0] == w[0] && known[EVENT_MEMO_TIME] == m->generation &&
	       !memcmp(known + rest, w + rest, (event_memo__words(e) - rest) * sizeof(*w));
}

static inline bool event_memo__is_short(const struct wire_event *e)
{
	return event_memo__words(e) <= EVENT_MEMO_WORDS;
}

/* Event i follows the last one. */
static inline void event_memo__go_on(struct event_memo *m, uint32_t i)
{
	uint32_t *next = m->events[m->last].next;

	if (next[0] != i) {
		next[1] = next[0];
		next[0] = i;
	}
	m->last = i;
}

/* What the writer has said of this event; NULL: it is not known. */
static inline const struct stk_writer_again *event_memo__find(struct event_memo *m,
							      const struct wire_event *e)
{
	const uint32_t *next = m->events[m->last].next;
	uint32_t i = next[0];

	if (!event_memo__is_short(e))
		return NULL;
	if (!event_memo__is(m, i, e) && !event_memo__is(m, i = next[1], e) &&
	    !event_memo__is(m, i = event_memo__place(e), e))
		return NULL;
	event_memo__go_on(m, i);
	return &m->events[i].again;
}

static inline void event_memo__add(struct event_memo *m, const struct wire_event *e,
				   const struct stk_writer_again *again)
{
	uint32_t i = event_memo__place(e);
	struct known_event *known = &m->events[i];

	memcpy(known->w, e, event_memo__words(e) * sizeof(known->w[0]));
	known->w[EVENT_MEMO_TIME] = m->generation;
	known->again = *again;
	if (i != m->last) /* as where it was found, but in a block that has ended */
		event_memo__go_on(m, i);
}

#endif /* RECORD_EVENT_MEMO_H */
