// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs and losses are slices.  On a track of Perfetto's, slices must nest or follow each other,
 * so each place has as many tracks as slices of it overlap.  They have one name, and Perfetto's
 * UI draws them as one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "losses.h"
#include "perfetto_priv.h"
#include "text.h"

#define KIND_LOSS 0
#define KIND_PAIR 1 /* and above: the pairs' kinds */
#define NO_OWNER UINT32_MAX

enum { SLICE_BEGIN = 1, SLICE_END = 2 };

struct slice {
	uint64_t from, to; /* ns */
	uint64_t category, name;
	uint64_t from_stack, to_stack;
};

/* ---- places and their tracks ----------------------------------------------------------------- */

static int charge_memory(struct pf_slices *sl, int64_t more)
{
	return stk_reader__charge(sl->reader, more, 0);
}

static int find_place(struct pf_slices *sl, uint32_t kind, uint32_t owner, uint64_t parent,
		      struct pf_place **ret_place)
{
	const struct pf_place_key key = { .kind = kind, .owner = owner, .parent = parent };
	uint32_t i;
	int got = string_table__number(&sl->place_keys, &key, sizeof(key), INDEX_NONE, &i);

	if (got > 0) {
		got = array__grow(&sl->places, sl->nr_places, &sl->max_places) ?:
			      charge_memory(sl, 4 * sizeof(*sl->places));
		if (!got)
			sl->places[sl->nr_places++] = (struct pf_place){ .parent = parent };
	}
	if (!got)
		*ret_place = &sl->places[i];
	return got;
}

/* The track below which those of a kind are, if they are not below a thread. */
static int kind_track(struct pf_slices *sl, uint32_t kind, const char *name, uint64_t *ret_track)
{
	if (array__reach(&sl->kind_tracks, kind, &sl->nr_kinds))
		return -ENOMEM;
	if (!sl->kind_tracks[kind])
		sl->kind_tracks[kind] = pf_tasks__named_track(sl->tasks, name, 0);
	*ret_track = sl->kind_tracks[kind];
	return 0;
}

/*
 * The track for a slice: of those that are free at its start, the one that became free last, so
 * that no more are used than overlap.  *ret_track is 0 if too many do.
 */
static int find_lane(struct pf_slices *sl, struct pf_place *place, const char *name,
		     const struct slice *s, uint64_t *ret_track)
{
	size_t i = array__bisect(place->nr, at, place->lanes[at].end <= s->from), to;
	struct pf_lane lane;
	int err;

	*ret_track = 0;
	if (i) {
		i--;
		lane = place->lanes[i];
		memmove(&place->lanes[i], &place->lanes[i + 1],
			(--place->nr - i) * sizeof(*place->lanes));
	} else {
		if (place->nr == PF_MAX_LANES)
			return 0;
		err = array__grow(&place->lanes, place->nr, &place->max) ?:
			      charge_memory(sl, 2 * sizeof(*place->lanes));
		if (err)
			return err;
		lane.track = pf_tasks__named_track(sl->tasks, name, place->parent);
	}
	lane.end = s->to;
	to = array__bisect(place->nr, at, place->lanes[at].end <= lane.end);
	memmove(&place->lanes[to + 1], &place->lanes[to],
		(place->nr++ - to) * sizeof(*place->lanes));
	place->lanes[to] = lane;
	*ret_track = lane.track;
	return 0;
}

/* ---- slices ---------------------------------------------------------------------------------- */

static void put_end(struct pf_slices *sl, const struct slice *s, uint64_t track, uint32_t type)
{
	bool begins = type == SLICE_BEGIN;
	uint64_t time = begins ? s->from : s->to, category = s->category;
	uint64_t stack = begins ? s->from_stack : s->to_stack;
	Pf__TracePacket p = pf_packet(&time);
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;

	PF_SET(&event, type, type);
	PF_SET(&event, track_uuid, track);
	if (begins) {
		event.n_category_iids = 1;
		event.category_iids = &category;
		PF_SET(&event, name_iid, s->name);
	}
	if (stack)
		PF_SET(&event, callstack_iid, stack);
	p.track_event = &event;
	pf_out__packet(sl->out, &p, 0);
}

static int put_slice(struct pf_slices *sl, struct pf_place *place, const char *lane,
		     const struct slice *s)
{
	uint64_t track;
	int err = find_lane(sl, place, lane, s, &track);

	if (err)
		return err;
	if (!track) {
		sl->left_out++;
		return 0;
	}
	put_end(sl, s, track, SLICE_BEGIN);
	put_end(sl, s, track, SLICE_END);
	return 0;
}

/* A place of its own for each thread or CPU that the pairs belong to. */
static int place_of(struct pf_slices *sl, const struct export_pair *pair,
		    struct pf_place **ret_place)
{
	const struct export_pair_end *at = &pair->start;
	uint32_t kind = KIND_PAIR + pair->kind;
	uint64_t parent;
	int err;

	if (pair->of == PAIR_OF_THREAD) {
		err = pf_tasks__thread_track(sl->tasks, at->tid, at->pid, at->cpu, &parent);
		return err ?: find_place(sl, kind, NO_OWNER, parent, ret_place);
	}
	err = kind_track(sl, kind, pair->kind_name, &parent);
	return err   ?:
		       find_place(sl, kind, pair->of == PAIR_OF_CPU ? at->cpu : NO_OWNER, parent,
				  ret_place);
}

int pf_slices__add_pair(struct pf_slices *sl, const struct export_pair *pair)
{
	const struct export_pair_end *start = &pair->start, *end = &pair->end;
	struct slice s = { .from = start->ts, .to = MAX(start->ts, end->ts) };
	char category[64], lane[64];
	struct pf_place *place;
	int err;

	snprintf(category, sizeof(category), "pair %s", pair->kind_name);
	if (pair->of == PAIR_OF_CPU)
		snprintf(lane, sizeof(lane), "CPU %" PRIu32, start->cpu);
	else
		snprintf(lane, sizeof(lane), "%s", pair->kind_name);
	err = pf_intern__text(sl->intern, PF_CATEGORY, category, &s.category)			?:
		      pf_intern__text(sl->intern, PF_EVENT, pair->name, &s.name)		?:
		      pf_intern__stack(sl->intern, start->kstack, start->ustack, &s.from_stack) ?:
		      pf_intern__stack(sl->intern, end->kstack, end->ustack, &s.to_stack)	?:
		      place_of(sl, pair, &place);
	return err ?: put_slice(sl, place, lane, &s);
}

/* "5 events lost: sched:sched_switch" or "3 samples skipped: sample:cpu-clock" */
static void put_loss_name(struct pf_slices *sl, const struct stk_loss *loss)
{
	struct strbuf *b = &sl->text;
	bool skipped = loss_is_skipped(loss);

	strbuf__reset(b);
	if (loss->count)
		strbuf__printf(b, "%s %s", text__count(loss->count, skipped ? "sample" : "event").s,
			       skipped ? "skipped" : "lost");
	else
		strbuf__puts(b, "events lost");
	if (loss->type)
		strbuf__printf(b, ": %s:%s", stk_event_type__system(loss->type),
			       stk_event_type__name(loss->type));
}

int pf_slices__add_loss(struct pf_slices *sl, const struct stk_loss *loss, uint64_t last_ts)
{
	struct slice s = { .from = loss->first_ts,
			   .to = loss->last_ts == UINT64_MAX ? last_ts : loss->last_ts };
	struct pf_place *place;
	uint64_t parent;
	char lane[32];
	int err;

	s.to = MAX(s.to, s.from);
	put_loss_name(sl, loss);
	if (strbuf__failed(&sl->text))
		return -ENOMEM;
	if (loss->cpu == STK_ANY_CPU)
		snprintf(lane, sizeof(lane), "any CPU");
	else
		snprintf(lane, sizeof(lane), "CPU %" PRIu32, loss->cpu);
	err = pf_intern__text(sl->intern, PF_CATEGORY, "loss", &s.category)	 ?:
		      pf_intern__text(sl->intern, PF_EVENT, sl->text.s, &s.name) ?:
		      kind_track(sl, KIND_LOSS, "Lost events", &parent)		 ?:
		      find_place(sl, KIND_LOSS, loss->cpu, parent, &place);
	return err ?: put_slice(sl, place, lane, &s);
}

void pf_slices__free(struct pf_slices *sl)
{
	uint32_t i;

	for (i = 0; i < sl->nr_places; i++)
		free(sl->places[i].lanes);
	free(sl->places);
	free(sl->kind_tracks);
	string_table__clear(&sl->place_keys);
	strbuf__free(&sl->text);
}
