// SPDX-License-Identifier: GPL-2.0-only
/* Prints what events are grouped and weighed by. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "report.h"
#include "ui/frames.h"

/* Members of JSON records; a field of that name has FIELD_PREFIX there. */
static const char *const members[] = {
	"type",	  "count", "percent", "kstack", "ustack",      "frames",       "depth",
	"self",	  "ip",	   "sym",     "mod",	"file",	       "inlined",      "guesses",
	"weight", "event", "library", "line",	"self_weight", "self_percent", "histogram",
};

static bool in_list(const char *name, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && strcmp(name, list[i]); i++)
		;
	return i < nr;
}

struct text report__weight(const struct report *rp, uint64_t weight)
{
	return rp->c.weight_is_ns ? text__ns(weight) : text__number(weight);
}

/* Members of the record keep their names: a field has its prefix, a value of a stack, too. */
static void json_key(struct report *rp, unsigned int i)
{
	const struct counting_key *key = &rp->c.keys[i];
	_cleanup_(strbuf__free) struct strbuf full = { 0 };

	if (key->generic < VALUE_KSTACK)
		strbuf__puts(&full, key->name);
	else if (key->generic < NR_VALUE_NAMES)
		strbuf__puts(&full, value_names[key->generic].full_name);
	else if (in_list(key->name, members, ARRAY_SIZE(members)))
		strbuf__printf(&full, FIELD_PREFIX "%s", key->name);
	else
		strbuf__puts(&full, key->name);
	json__name(&rp->out.json, full.s ?: key->name);
	rp->out.b.failed |= strbuf__failed(&full);
}

static void json_value(struct report *rp, const struct stack_group *g, unsigned int i)
{
	_cleanup_(strbuf__free) struct strbuf hex = { 0 };
	const struct event_value *v = &g->keys[i];
	struct json *j = &rp->out.json;

	json_key(rp, i);
	if (counting_key__is_stack(&rp->c.keys[i])) {
		stack__json_id(rp->rd.reader, j, NULL, v->number);
		return;
	}
	switch (v->type) {
	case VALUE_NONE:
		json__null(j, NULL);
		break;
	case VALUE_TEXT:
		json__bytes(j, NULL, v->text, v->len);
		break;
	case VALUE_BYTES:
		event_value__put_hex(&hex, v);
		json__string(j, NULL, hex.s ?: "");
		break;
	case VALUE_S64:
		json__s64(j, NULL, v->number);
		break;
	case VALUE_U64:
		json__u64(j, NULL, v->number);
		break;
	case VALUE_ADDRESS:
		json__printf(j, NULL, "0x%" PRIx64, counting__address(&rp->c, v->number));
		break;
	}
}

static void put_event(struct report *rp, const struct stack_group *g)
{
	_cleanup_free_ char *event = event__full_name(g->type);

	rp->out.b.failed |= !event;
	if (event && rp->rd.json)
		json__string(&rp->out.json, "event", event);
	else if (event)
		strbuf__text(&rp->out.b, event);
}

void report__put_key(struct report *rp, const struct stack_group *g)
{
	_cleanup_(strbuf__free) struct strbuf value = { 0 };
	struct strbuf *b = &rp->out.b;
	unsigned int i;

	for (i = 0; i < rp->c.nr_keys; i++) {
		if (!rp->rd.json && i)
			strbuf__putc(b, ' ');
		if (rp->c.keys[i].generic == VALUE_EVENT) {
			put_event(rp, g);
		} else if (rp->rd.json) {
			json_value(rp, g, i);
		} else {
			strbuf__reset(&value);
			counting__put_value(&rp->c, g, i, &value);
			strbuf__text(b, rp->c.keys[i].name);
			strbuf__putc(b, ' ');
			strbuf__safe(b, value.s ?: "", value.len);
		}
	}
	b->failed |= strbuf__failed(&value);
}
