// SPDX-License-Identifier: GPL-2.0-only
/* Measures pairs of several kinds, and hands each to who takes them. */
#include "pair_kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "log.h"
#include "text.h"

struct pair_kind {
	struct pair_kinds *all;
	unsigned int nr;
	struct pair_query q;
	const char *title, *summary; /* of pairs that are not a preset's */
	const struct pairs_group *group; /* whose name is in name */
	struct strbuf name;
	bool has_starts; /* so far */
	bool left_out;
};

/* ---- which pairs ----------------------------------------------------------------------------- */

static struct pair_kind *add_kind(struct pair_kinds *pk)
{
	struct pair_kind *kind = calloc(1, sizeof(*kind));

	if (kind && array__append(&pk->v, &pk->nr, kind)) {
		free(kind);
		kind = NULL;
	}
	if (kind) {
		kind->all = pk;
		kind->nr = pk->nr - 1;
	}
	return kind;
}

static int no_memory(void)
{
	log_err(-ENOMEM, "choose pairs");
	return CMD_FAILURE;
}

static int add_preset(struct pair_kinds *pk, const char *command, const char *name)
{
	struct pair_kind *kind = add_kind(pk);

	if (!kind)
		return no_memory();
	return pair_query__take_preset(&kind->q, command, name) ?:
		       pair_query__complete(&kind->q, command);
}

/* What the command offcpu measures, without the wakers that make some waits two. */
static int add_offcpu(struct pair_kinds *pk, const char *command)
{
	struct pair_kind *kind = add_kind(pk);

	if (!kind)
		return no_memory();
	kind->title = "offcpu";
	kind->summary = "time off the CPU, from one switch to the next of the same thread";
	kind->q = (struct pair_query){ .start = "sched:sched_switch",
				       .end = "sched:sched_switch",
				       .match = "prev_pid=next_pid",
				       .single = true };
	return pair_query__complete(&kind->q, command);
}

static int add_listed(struct pair_kinds *pk, const char *command)
{
	_cleanup_free_ char *list = strdup(pk->presets);
	char *rest = list, *name;
	int code = CMD_OK;

	if (!list)
		return no_memory();
	if (!strcmp(list, "none"))
		return CMD_OK;
	while (!code && (name = strsep(&rest, ",")))
		code = !strcmp(name, "offcpu") ? add_offcpu(pk, command) :
						 add_preset(pk, command, name);
	return code;
}

static int add_own(struct pair_kinds *pk, const char *command)
{
	struct pair_kind *kind;

	if (!pk->own.start || !pk->own.end)
		return ui__usage_error(command, "pairs need both --start and --end");
	kind = add_kind(pk);
	if (!kind)
		return no_memory();
	kind->q = pk->own;
	kind->title = "pairs";
	kind->summary = "from --start to --end";
	return pair_query__complete(&kind->q, command);
}

/* From wakeup to running is what the thread states of a trace show anyway. */
static int add_all(struct pair_kinds *pk, const char *command)
{
	const struct preset *p;
	int code = CMD_OK;

	pk->all = true;
	for (p = presets; p->name && !code; p++)
		if (p->start && (pk->waits || strcmp(p->name, "runqueue")))
			code = add_preset(pk, command, p->name);
	return code || !pk->waits ? code : add_offcpu(pk, command);
}

int pair_kinds__complete(struct pair_kinds *pk, const char *command)
{
	int code = CMD_OK;

	if (!pair_kinds__are_given(pk))
		return add_all(pk, command);
	if (pk->presets)
		code = add_listed(pk, command);
	if (!code &&
	    (pk->own.start || pk->own.end || pk->own.match || pk->own.start_if || pk->own.single))
		code = add_own(pk, command);
	return code;
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* What both ends of a pair have in common, by the key. */
static int common_of(const struct pair_query *q)
{
	const char *s;

	if (!q->match)
		return PAIR_OF_THREAD;
	for (s = q->match; *s; s += *s == ',') {
		size_t n = strcspn(s, ",");

		if (n == 3 && !strncmp(s, "tid", 3))
			return PAIR_OF_THREAD;
		if (n == 3 && !strncmp(s, "cpu", 3))
			return PAIR_OF_CPU;
		s += n;
	}
	return PAIR_OF_ANY;
}

/* A single value of the group stands for itself: "openat". */
static void put_name(struct pair_kind *kind, const struct pairs_group *group)
{
	strbuf__reset(&kind->name);
	if (group->others || pairs__nr_by(kind->q.pairs) != 1)
		pair_query__group_name(&kind->q, group, &kind->name);
	else
		strbuf__text(&kind->name, group->by[0].text);
	kind->group = group;
}

static struct export_pair_end end_of(const struct pair_kind *kind, const struct pairs_end *end)
{
	return (struct export_pair_end){ .ts = end->ts,
					 .tid = end->tid,
					 .pid = end->pid,
					 .cpu = end->cpu,
					 .kstack = end->kstack,
					 .ustack = end->ustack,
					 .type = end->type,
					 .comm = pairs__comm(kind->q.pairs, end->comm) };
}

static int measured(void *ctx, const struct pairs_group *group, const struct pairs_pair *pair)
{
	struct pair_kind *kind = ctx;
	const char *name = pair_kinds__name(kind->all, kind->nr);
	struct export_pair p = {
		.kind = kind->nr,
		.kind_name = name,
		.of = common_of(&kind->q),
		.start = end_of(kind, &pair->start),
		.end = end_of(kind, &pair->end),
	};

	if (kind->group != group)
		put_name(kind, group);
	if (strbuf__failed(&kind->name))
		return -ENOMEM;
	p.name = pairs__nr_by(kind->q.pairs) ? kind->name.s ?: "" : name;
	return kind->all->taker.take(kind->all->taker.ctx, &p);
}

int pair_kinds__start(struct pair_kinds *pk, struct reading *rd)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < pk->nr && !err; i++) {
		pk->v[i]->q.measured = measured;
		pk->v[i]->q.quiet = pk->all;
		pk->v[i]->q.ctx = pk->v[i];
		err = pair_query__start(&pk->v[i]->q, rd, 0, PAIRS_NO_STACKS);
	}
	return err;
}

/* Whether the recording has an event type of a list, or of one of "A|B": 1, 0 or -ENOMEM. */
static int has_event(const struct reading *rd, const char *list)
{
	_cleanup_free_ char *copy = strdup(list);
	unsigned int i, nr = stk_reader__nr_types(rd->reader);
	char *rest = copy, *globs;
	int got = copy ? 0 : -ENOMEM;

	while (!got && (globs = strsep(&rest, "|")))
		for (i = 0; i < nr && !got; i++)
			got = event__matches(rd->reader, globs, stk_reader__type(rd->reader, i));
	return got;
}

/* Types may follow events.  Before the first type of a start, no pair begins. */
static int note_types(struct pair_kinds *pk, const struct reading *rd)
{
	unsigned int i;
	int got = 0;

	for (i = 0; i < pk->nr && got >= 0; i++) {
		if (pk->v[i]->has_starts)
			continue;
		got = has_event(rd, pk->v[i]->q.start);
		pk->v[i]->has_starts = got > 0;
	}
	pk->nr_types = stk_reader__nr_types(rd->reader);
	return MIN(got, 0);
}

static int add_to(struct pair_kinds *pk, struct pair_kind *kind, const struct stk_event *e)
{
	int err = pair_query__add(&kind->q, e);

	/* An event of another tracer may have other fields. */
	if (err != -ENOENT || !pk->all)
		return err;
	log_warn("the pairs '%s' are left out: their events lack a field that they need",
		 pair_kinds__name(pk, kind->nr));
	kind->left_out = true;
	return 0;
}

int pair_kinds__add(struct pair_kinds *pk, struct reading *rd, const struct stk_event *e)
{
	unsigned int i;
	int err = 0;

	if (pk->nr_types != stk_reader__nr_types(rd->reader))
		err = note_types(pk, rd);
	for (i = 0; i < pk->nr && !err; i++)
		if ((pk->v[i]->has_starts || !pk->all) && !pk->v[i]->left_out)
			err = add_to(pk, pk->v[i], e);
	return err;
}

int pair_kinds__check(struct pair_kinds *pk)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < pk->nr && !err && !pk->all; i++)
		err = pair_query__check(&pk->v[i]->q);
	return err;
}

const char *pair_kinds__name(const struct pair_kinds *pk, unsigned int kind)
{
	const struct pair_kind *k = pk->v[kind];

	return k->q.preset ? k->q.preset->name : k->title;
}

const char *pair_kinds__summary(const struct pair_kinds *pk, unsigned int kind)
{
	const struct pair_kind *k = pk->v[kind];

	return k->q.preset ? k->q.preset->summary : k->summary;
}

const char *pair_kinds__by(const struct pair_kinds *pk, unsigned int kind)
{
	return pk->v[kind]->q.by;
}

uint64_t pair_kinds__gaps(const struct pair_kinds *pk, unsigned int kind)
{
	return pairs__counts(pk->v[kind]->q.pairs)->gap;
}

void pair_kinds__summarize(const struct pair_kinds *pk, struct strbuf *summary)
{
	uint64_t gaps = 0;
	unsigned int i;

	for (i = 0; i < pk->nr; i++)
		gaps += pair_kinds__gaps(pk, i);
	if (gaps)
		strbuf__printf(summary, "; %s left out, as events may be missing in between",
			       text__count(gaps, "pair").s);
}

void pair_kinds__free(struct pair_kinds *pk)
{
	unsigned int i;

	for (i = 0; i < pk->nr; i++) {
		pair_query__free(&pk->v[i]->q);
		strbuf__free(&pk->v[i]->name);
		free(pk->v[i]);
	}
	free(pk->v);
}
