// SPDX-License-Identifier: GPL-2.0-only
/* Labels and sums of counted stacks. */
#include "stacks.h"

#include "query/metadata.h"
#include "text.h"

void export_stacks__label(const struct export_stacks *s, const struct stack_group *g,
			  struct strbuf *b)
{
	unsigned int i;

	for (i = 0; i < s->nr_keys; i++) {
		if (i)
			strbuf__putc(b, ' ');
		if (!s->keys[i].is_plain)
			strbuf__printf(b, "%s ", s->keys[i].name);
		s->put_value(s->ctx, g, i, b);
	}
}

uint64_t export_stacks__sample_hz(const struct export_stacks *s)
{
	uint64_t hz = 0;

	metadata__u64(s->reader, "samples.hz", &hz);
	return hz;
}

bool stack_group__is_sampled(const struct stack_group *g)
{
	return stk_event_type__kind(g->type) == STK_KIND_SAMPLE && !g->other_types;
}

const char *export_stacks__unit(const struct export_stacks *s)
{
	return s->weight_is_ns ? "nanoseconds" : strstr(s->weight, "bytes") ? "bytes" : NULL;
}

void export_stacks__summarize(const struct export_stacks *s, struct strbuf *summary)
{
	uint64_t events = 0, stacks = 0;
	unsigned int i;

	for (i = 0; i < s->nr_groups; i++) {
		events += s->groups[i].count;
		stacks += s->groups[i].nr_stacks;
	}
	strbuf__printf(summary, "%s, %s in %s", text__count(events, "event").s,
		       text__count(stacks, "stack").s, text__count(s->nr_groups, "group").s);
	export_stacks__put_left_out(s, 0, summary);
}

void export_stacks__put_left_out(const struct export_stacks *s, uint64_t no_stack,
				 struct strbuf *summary)
{
	if (s->left_out)
		strbuf__printf(summary, "; %s left out", s->left_out);
	if (no_stack)
		strbuf__printf(summary, "; %s without a stack left out",
			       text__count(no_stack, "event").s);
}
