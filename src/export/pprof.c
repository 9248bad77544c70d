// SPDX-License-Identifier: GPL-2.0-only
/* Export: a profile for pprof. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "formats.h"
#include "log.h"
#include "losses.h"
#include "pprof_code.h"
#include "pprof_file.h"
#include "stacks.h"
#include "text.h"

#define SECOND_NS 1000000000ull

/* The values of a sample: the number of events, and perhaps another one. */
enum second_value {
	SECOND_NONE,
	SECOND_WEIGHT, /* of --weigh */
	SECOND_CPU, /* the time that timer samples stand for */
};

struct pprof {
	const struct export_stacks *stacks;
	struct pprof_file *file;
	struct pprof_code *code;
	enum second_value second;
	uint64_t hz; /* of timer samples */
	bool only_samples; /* there are no other events */
	uint64_t events, samples; /* written */
	uint64_t no_stack; /* events that were left out */
	uint64_t sum; /* of the second values */
};

static void choose_values(struct pprof *p)
{
	unsigned int i, sampled = 0;

	for (i = 0; i < p->stacks->nr_groups; i++)
		sampled += stack_group__is_sampled(&p->stacks->groups[i]);
	p->only_samples = sampled && sampled == p->stacks->nr_groups;
	p->hz = export_stacks__sample_hz(p->stacks);
	if (p->stacks->weight)
		p->second = SECOND_WEIGHT;
	else if (sampled && p->hz)
		p->second = SECOND_CPU;
	else if (sampled)
		log_warn("the recording does not say how often it took timer samples, so the "
			 "profile has their number and not their time");
}

static void set_type(struct pprof *p, bool second, Pprof__ValueType *ret_type)
{
	bool is_cpu = second && p->second == SECOND_CPU;

	pprof__value_type__init(ret_type);
	ret_type->type = pprof_file__string(p->file, !second ? "events" :
						     is_cpu  ? "cpu" :
							       p->stacks->weight);
	ret_type->unit = pprof_file__string(p->file, !second ? "count" :
						     is_cpu  ? "nanoseconds" :
						     export_stacks__unit(p->stacks) ?:
										      "count");
}

/* What the values are; a sample of the clock comes once in a period, any other event counts 1. */
static void put_types(struct pprof *p)
{
	Pprof__ValueType types[2], *list[2] = { &types[0], &types[1] };
	Pprof__Profile part = PPROF__PROFILE__INIT;
	bool shows_second;

	set_type(p, false, &types[0]);
	if (p->second)
		set_type(p, true, &types[1]);
	shows_second = p->second == SECOND_WEIGHT || (p->second && p->only_samples);
	part.sample_type = list;
	part.n_sample_type = p->second ? 2 : 1;
	part.default_sample_type = types[shows_second].type;
	part.period_type = &types[p->second == SECOND_CPU];
	part.period = p->second == SECOND_CPU ? SECOND_NS / p->hz : 1;
	pprof_file__put(p->file, &part);
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool to_number(const struct strbuf *text, int64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoll(text->s ?: "", &end, 10);
	return !errno && text->len && !*end;
}

/*
 * A value of the group: a number where all groups have one, so that pprof can compare.  pprof
 * ignores a label with the number 0, so that one is a text.
 */
static void set_label(struct pprof *p, const struct stack_group *g, unsigned int key,
		      struct strbuf *text, Pprof__Label *ret_label)
{
	const struct export_stacks *s = p->stacks;
	int64_t number;

	pprof__label__init(ret_label);
	ret_label->key = pprof_file__string(p->file, s->keys[key].name);
	strbuf__reset(text);
	s->put_value(s->ctx, g, key, text);
	if (s->keys[key].is_number && to_number(text, &number) && number)
		ret_label->num = number;
	else
		ret_label->str = pprof_file__string(p->file, text->s);
}

static int second_value(struct pprof *p, const struct stack_group *g, const struct stack_count *c,
			int64_t *ret_value)
{
	unsigned __int128 value = 0;

	if (p->second == SECOND_WEIGHT)
		value = c->amount;
	else if (p->second == SECOND_CPU && stack_group__is_sampled(g))
		value = (unsigned __int128)c->count * SECOND_NS / p->hz;
	if (value + p->sum > INT64_MAX)
		return -EOVERFLOW;
	p->sum += value;
	*ret_value = value;
	return 0;
}

static int put_sample(struct pprof *p, const struct stack_group *g, const struct stack_count *c,
		      Pprof__Label **labels)
{
	Pprof__Sample out = PPROF__SAMPLE__INIT, *list = &out;
	struct stk_frame frames[STACK_PAIR_FRAMES];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	uint64_t locations[STACK_PAIR_FRAMES];
	int64_t values[2] = { c->count };
	unsigned int i, nr;
	int err;

	nr = stack_fold__frames(p->stacks->fold, (struct stack_pair){ c->kstack, c->ustack },
				frames);
	if (!nr) {
		p->no_stack += c->count;
		return 0;
	}
	err = second_value(p, g, c, &values[1]) ?: stk_reader__charge(p->stacks->reader, 0, nr);
	for (i = 0; i < nr && !err; i++)
		err = pprof_code__location(p->code, &frames[i], &locations[i]);
	if (err)
		return err;
	out.location_id = locations;
	out.n_location_id = nr;
	out.value = values;
	out.n_value = p->second ? 2 : 1;
	out.label = labels;
	out.n_label = p->stacks->nr_keys;
	part.sample = &list;
	part.n_sample = 1;
	pprof_file__put(p->file, &part);
	p->events += c->count;
	p->samples++;
	return 0;
}

static int put_group(struct pprof *p, const struct stack_group *g)
{
	Pprof__Label labels[STACK_KEYS], *list[STACK_KEYS];
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < p->stacks->nr_keys; i++) {
		set_label(p, g, i, &text, &labels[i]);
		list[i] = &labels[i];
	}
	if (strbuf__failed(&text))
		return -ENOMEM;
	for (i = 0; i < g->nr_stacks && !err; i++)
		err = put_sample(p, g, &g->stacks[i], list);
	return err;
}

/* ---- about the recording --------------------------------------------------------------------- */

static void put_comment(struct pprof *p, int64_t string)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.comment = &string;
	part.n_comment = 1;
	pprof_file__put(p->file, &part);
}

static void put_losses(struct pprof *p)
{
	const struct stk_reader *r = p->stacks->reader;
	unsigned int i;

	for (i = 0; i < stk_reader__nr_types(r); i++) {
		const struct stk_event_type *t = stk_reader__type(r, i);
		uint64_t lost = losses__of(r, t, true);

		if (lost)
			put_comment(p, pprof_file__printf(p->file, "lost: %" PRIu64 " of %s:%s",
							  lost, stk_event_type__system(t),
							  stk_event_type__name(t)));
	}
}

static void put_comments(struct pprof *p)
{
	const struct stk_reader *r = p->stacks->reader;
	const char *command = stk_reader__meta(r, "cmdline"), *host;
	struct stk_totals t;

	stk_reader__totals(r, &t);
	host = stk_reader__meta(r, "hostname");
	if (host)
		put_comment(p, pprof_file__printf(p->file, "host: %s, Linux %s", host,
						  stk_reader__meta(r, "kernel.release") ?: "?"));
	if (command)
		put_comment(p, pprof_file__printf(p->file, "command: %s", command));
	put_losses(p);
	if (t.bad_blocks)
		put_comment(p, pprof_file__printf(p->file, "damaged: %s",
						  text__count(t.bad_blocks, "block").s));
	if (p->no_stack)
		put_comment(p, pprof_file__printf(p->file, "left out: %s without a stack",
						  text__count(p->no_stack, "event").s));
	if (p->stacks->left_out)
		put_comment(p, pprof_file__printf(p->file, "left out: %s", p->stacks->left_out));
}

static void put_times(struct pprof *p)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct stk_totals t;

	stk_reader__totals(p->stacks->reader, &t);
	part.time_nanos = t.start_wall_ns;
	part.duration_nanos = t.last_ts - t.first_ts;
	pprof_file__put(p->file, &part);
}

static int write_profile(struct pprof *p)
{
	unsigned int i;
	int err = 0;

	choose_values(p);
	put_types(p);
	for (i = 0; i < p->stacks->nr_groups && !err; i++)
		err = put_group(p, &p->stacks->groups[i]);
	err = err ?: pprof_code__put(p->code);
	if (err)
		return err;
	put_times(p);
	put_comments(p);
	return pprof_file__finish(p->file);
}

static int write_file(struct pprof *p, const struct output *output, const struct output_opts *opts)
{
	_cleanup_(pprof_file__freep) struct pprof_file *file = NULL;
	_cleanup_(pprof_code__freep) struct pprof_code *code = NULL;
	int err = pprof_file__new(output, p->stacks->reader, &file);

	err = err ?: pprof_code__new(file, p->stacks, &code);
	p->file = file;
	p->code = code;
	err = err ?: write_profile(p);
	if (err == -EOVERFLOW)
		log_err(0, "'%s': a sum exceeds 2^63: select fewer events",
			p->stacks->weight ?: "cpu");
	else if (err)
		export__failed(p->stacks->reader, opts->path, err);
	return err;
}

int export__pprof(const struct export_source *src, const struct output_opts *opts,
		  struct strbuf *summary)
{
	_cleanup_(output__freep) struct output *output = NULL;
	struct export_stacks stacks;
	struct pprof p = { .stacks = &stacks };
	int err;

	err = output__open(opts, &output);
	err = err ?: export_source__count(src, &stacks);
	err = err ?: write_file(&p, output, opts);
	err = err ?: output__commit(output);
	if (err)
		return err;
	strbuf__printf(summary, "%s in %s", text__count(p.events, "event").s,
		       text__count(p.samples, "sample").s);
	export_stacks__put_left_out(&stacks, p.no_stack, summary);
	return 0;
}
