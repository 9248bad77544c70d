// SPDX-License-Identifier: GPL-2.0-only
/* Counts the selected events of a recording by group and stack. */
#include "counting_priv.h"

#include <stdlib.h>

#include "cleanup.h"
#include "log.h"
#include "ui/out.h"

static int charge_events(struct counting *c)
{
	if (!charge__is_due(&c->charge))
		return 0;
	return charge(&c->charge, c->rd->reader,
		      stack_counts__memory(c->counts) + values__memory(c->values), 0);
}

static int add_event(struct counting *c, const struct stk_event *e, uint64_t count)
{
	return stack_counts__add(c->counts, e, count) ?: charge_events(c);
}

int counting__begin(struct counting *c)
{
	return stack_fold__new(c->rd->reader, c->folding, &c->fold) ?:
		       stack_counts__new(&c->spec, &c->counts);
}

int counting__place(struct counting *c, const struct stk_event *e, struct stack_place *ret_place)
{
	int n = stack_counts__place(c->counts, e, ret_place);

	return n < 0 ? n : charge_events(c) ?: n;
}

int counting__run(struct counting *c, struct out *o)
{
	/* Events that are counted at once differ in their fields and times. */
	bool one_by_one = counting__needs_events(c);
	const struct stk_event *e;
	uint64_t count = 1;
	int err = counting__begin(c);

	while (!err && (one_by_one ? reading__next(c->rd, o, NULL, NULL, &e) :
				     reading__next_counted(c->rd, o, NULL, NULL, &e, &count)))
		err = add_event(c, e, count);
	if (!err)
		return counting__check(c);
	log_err(err, "count the stacks");
	return CMD_FAILURE;
}

int counting__finish(struct counting *c)
{
	int err = stack_counts__finish(c->counts, c->fold, &c->groups, &c->nr_groups);

	if (!err)
		return CMD_OK;
	log_err(err, "sort the stacks");
	return CMD_FAILURE;
}

void counting__free(struct counting *c)
{
	unsigned int i;

	stack_counts__free(c->counts);
	stack_fold__free(c->fold);
	for (i = 0; i < STACK_KEYS; i++)
		free(c->keys[i].name);
	free(c->weight_name);
	values__free(c->values);
	strbuf__free(&c->left_out);
}

bool counting__left_out(const struct counting *c, struct strbuf *b)
{
	const struct stack_left_out left = stack_counts__left_out(c->counts);

	if (left.missing) {
		strbuf__printf(b, "%s without a number '", text__count(left.missing, "event").s);
		strbuf__text(b, c->weight_name);
		strbuf__putc(b, '\'');
	}
	if (left.negative) {
		strbuf__printf(b, "%s%s with a negative '", left.missing ? " and " : "",
			       text__count(left.negative, "event").s);
		strbuf__text(b, c->weight_name);
		strbuf__putc(b, '\'');
	}
	return left.missing || left.negative;
}

static void put_value(void *ctx, const struct stack_group *g, unsigned int key, struct strbuf *b)
{
	counting__put_value(ctx, g, key, b);
}

void counting__stacks(struct counting *c, struct export_stacks *ret_stacks)
{
	struct export_stacks s = {
		.reader = c->rd->reader,
		.names = &c->rd->names,
		.fold = c->fold,
		.groups = c->groups,
		.nr_groups = c->nr_groups,
		.nr_keys = c->nr_keys,
		.weight = c->weight_name,
		.weight_is_ns = c->weight_is_ns,
		.put_value = put_value,
		.ctx = c,
	};
	unsigned int i;

	strbuf__reset(&c->left_out);
	if (counting__left_out(c, &c->left_out))
		s.left_out = c->left_out.s;
	for (i = 0; i < c->nr_keys; i++)
		s.keys[i] = (struct export_key){
			.name = c->keys[i].name,
			.is_plain = counting_key__is_plain(&c->keys[i]),
			.is_number = counting__is_number(c, i),
		};
	*ret_stacks = s;
}
