// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses where they happened, as the kernel's trace file has them (print_trace_line() in
 * kernel/trace/trace.c): "CPU:1 [LOST 34 EVENTS]" ahead of the first event after it.
 */
#include "script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_line(struct strbuf *b, const struct stk_loss *loss)
{
	if (loss->cpu == STK_ANY_CPU)
		strbuf__puts(b, "CPU:any");
	else
		strbuf__printf(b, "CPU:%" PRIu32, loss->cpu);
	if (loss->count)
		strbuf__printf(b, " [LOST %" PRIu64 " EVENTS]\n", loss->count);
	else
		strbuf__puts(b, " [LOST EVENTS]\n");
}

static void put_number(struct strbuf *b, const char *key, bool known, uint64_t v)
{
	strbuf__printf(b, ",\"%s\":", key);
	if (known)
		strbuf__u64(b, v);
	else
		strbuf__puts(b, "null");
}

static void put_json(struct strbuf *b, const struct stk_loss *loss)
{
	char *name = loss->type ? event__full_name(loss->type) : NULL;

	b->failed |= loss->type && !name;
	strbuf__puts(b, "{\"type\":\"loss\"");
	put_number(b, "ts", true, loss->first_ts);
	put_number(b, "end_ts", loss->last_ts != UINT64_MAX, loss->last_ts);
	put_number(b, "cpu", loss->cpu != STK_ANY_CPU, loss->cpu);
	strbuf__puts(b, ",\"event\":");
	if (name)
		out__json(b, name, strlen(name));
	else
		strbuf__puts(b, "null");
	put_number(b, "count", loss->count, loss->count);
	strbuf__puts(b, "}\n");
	free(name);
}

void script__losses(struct script *s, uint64_t until)
{
	struct stk_loss loss;

	while (!out__drain(&s->out) && stk_reader__next_loss(s->rd.reader, until, &loss) == 1) {
		if (!reading__loss_selected(&s->rd, &loss))
			continue;
		if (s->rd.json)
			put_json(&s->out.b, &loss);
		else
			put_line(&s->out.b, &loss);
	}
}
