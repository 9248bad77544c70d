// SPDX-License-Identifier: GPL-2.0-only
/* What events are grouped and weighed by: --by and --weigh, and how the values are printed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "report.h"
#include "ui/frames.h"
#include "ui/need.h"

static const char *const how_words[] = {
	[WEIGH_SUM] = "sum", [WEIGH_AVG] = "avg", [WEIGH_P50] = "p50",
	[WEIGH_P99] = "p99", [WEIGH_MAX] = "max", [WEIGH_HIST] = "hist",
};

/* Fields in ns whose name does not say so, of the scheduler's events. */
static const char *const ns_fields[] = { "delay", "runtime" };

#define FIELD_PREFIX "field."

/* Members of JSON records; a field of that name has FIELD_PREFIX there. */
static const char *const members[] = {
	"type",	  "count", "percent", "kstack", "ustack",      "frames",       "depth",
	"self",	  "ip",	   "sym",     "mod",	"file",	       "inlined",      "guesses",
	"weight", "event", "library", "line",	"self_weight", "self_percent", "histogram",
};

static const char *shown_name(void *names, const char *sym)
{
	return user_names__function(names, sym);
}

/* Adds a name to the values; an exit code. */
static int add_name(struct report *rp, const char *option, const char *name, unsigned int *ret_nr)
{
	int nr = values__add(rp->values, name, VALUE_PREFER_GENERIC);

	if (nr == -EINVAL)
		return ui__usage_error(rp->rd.command,
				       "--%s expects names of values, such as comm, prev_comm or "
				       "field.comm: '%s'",
				       option, name);
	if (nr < 0) {
		log_err(nr, "look up '%s'", name);
		return CMD_FAILURE;
	}
	*ret_nr = nr;
	return CMD_OK;
}

static int add_key(struct report *rp, const char *name)
{
	struct stack_spec *spec = &rp->spec;
	struct report_key *key;
	unsigned int i, nr = 0;
	int code;

	if (spec->nr_keys == STACK_KEYS)
		return ui__usage_error(rp->rd.command, "--by takes at most %u names: '%s'",
				       STACK_KEYS, rp->by);
	code = add_name(rp, "by", name, &nr);
	if (code)
		return code;
	key = &rp->keys[spec->nr_keys];
	key->generic = values__generic(rp->values, nr);
	if (key->generic != NR_VALUE_NAMES)
		name = value_names[key->generic].name;
	for (i = 0; i < spec->nr_keys; i++)
		if (!strcmp(rp->keys[i].name, name))
			return ui__usage_error(rp->rd.command, "--by has '%s' twice", name);
	key->name = strdup(name);
	if (!key->name) {
		log_err(-ENOMEM, "look up '%s'", name);
		return CMD_FAILURE;
	}
	spec->keys[spec->nr_keys++] = nr;
	return CMD_OK;
}

static int add_keys(struct report *rp)
{
	_cleanup_free_ char *copy = strdup(rp->by);
	char *rest = copy, *name;
	int code = CMD_OK;

	if (!copy) {
		log_err(-ENOMEM, "look up '%s'", rp->by);
		return CMD_FAILURE;
	}
	while (!code && (name = strsep(&rest, ",")))
		code = add_key(rp, name);
	return code;
}

/* "FIELD", "FIELD:HOW" */
static int add_weight(struct report *rp)
{
	const char *how = strchr(rp->weigh, ':');
	unsigned int i = 0;

	rp->weight_name = strndup(rp->weigh, how ? how - rp->weigh : (ssize_t)strlen(rp->weigh));
	if (!rp->weight_name) {
		log_err(-ENOMEM, "look up '%s'", rp->weigh);
		return CMD_FAILURE;
	}
	while (how && i < ARRAY_SIZE(how_words) && strcmp(how + 1, how_words[i]))
		i++;
	if (i == ARRAY_SIZE(how_words))
		return ui__usage_error(rp->rd.command,
				       "--weigh %s: expects FIELD, or FIELD with :sum, :avg, :p50, "
				       ":p99, :max or :hist",
				       rp->weigh);
	rp->spec.how = i;
	rp->spec.weighed = true;
	return add_name(rp, "weigh", rp->weight_name, &rp->spec.weight);
}

int report__take_keys(struct report *rp)
{
	struct value_frames frames = {
		.no_kernel = rp->stacks == STACKS_USER,
		.no_user = rp->stacks == STACKS_KERNEL,
		.function = shown_name,
		.ctx = &rp->rd.names,
	};
	int err = values__new(rp->rd.reader, &rp->values);

	if (err) {
		log_err(err, "look up values");
		return CMD_FAILURE;
	}
	values__set_frames(rp->values, &frames);
	rp->spec.values = rp->values;
	rp->spec.stacks = rp->stacks ?: STACKS_KERNEL | STACKS_USER;
	rp->text = (struct kernel_text){ .reader = rp->rd.reader, .of_places = true };
	return add_keys(rp) ?: rp->weigh ? add_weight(rp) : CMD_OK;
}

void report__free_keys(struct report *rp)
{
	unsigned int i;

	for (i = 0; i < STACK_KEYS; i++)
		free(rp->keys[i].name);
	free(rp->weight_name);
	values__free(rp->values);
}

bool report__needs_fields(const struct report *rp)
{
	_cleanup_free_ char *copy = strdup(rp->by);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ",")))
		if (!value_name__is_generic(name))
			return true;
	return rp->weigh || !copy;
}

bool report__needs_events(const struct report *rp)
{
	_cleanup_free_ char *copy = strdup(rp->by);
	char *rest = copy, *name;
	bool is_full;

	while ((name = strsep(&rest, ",")))
		if (value_name__find(name, &is_full) == VALUE_TIME)
			return true;
	return report__needs_fields(rp);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *without_prefix(const char *name)
{
	size_t len = strlen(FIELD_PREFIX);

	return strncmp(name, FIELD_PREFIX, len) ? name : name + len;
}

static bool in_list(const char *name, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && strcmp(name, list[i]); i++)
		;
	return i < nr;
}

static bool is_ns(const struct stk_event_type *t, const char *name)
{
	size_t len = strlen(name);

	if (len > 3 && !strcmp(name + len - 3, "_ns"))
		return true;
	return !strcmp(stk_event_type__system(t), "sched") &&
	       in_list(name, ns_fields, ARRAY_SIZE(ns_fields));
}

/* The weight is a number in at least one event type, and a time if it is one in all of them. */
static int check_weight(struct report *rp)
{
	unsigned int nr = stk_reader__nr_types(rp->rd.reader), i, numbers = 0, times = 0;
	const char *name = without_prefix(rp->weight_name);
	const struct ev_field *field;
	enum value_name generic;

	if (values__generic(rp->values, rp->spec.weight) != NR_VALUE_NAMES) {
		generic = values__generic(rp->values, rp->spec.weight);
		if (value_names[generic].type == VALUE_TEXT) {
			log_err(0, "--weigh: '%s' is a text, a weight must be a number",
				rp->weight_name);
			return CMD_FAILURE;
		}
		return CMD_OK;
	}
	for (i = 0; i < nr; i++) {
		const struct stk_event_type *t = stk_reader__type(rp->rd.reader, i);

		if (values__source(rp->values, rp->spec.weight, t, &field, &generic) || !field ||
		    field->kind != EV_FIELD_INT)
			continue;
		numbers++;
		times += is_ns(t, name);
	}
	rp->weight_is_ns = numbers && times == numbers;
	if (numbers)
		return CMD_OK;
	if (need__field(&rp->rd, name) == CMD_OK)
		log_err(0, "--weigh: '%s' is no number in any event of '%s'", rp->weight_name,
			rp->rd.path);
	return CMD_FAILURE;
}

int report__check_keys(struct report *rp)
{
	unsigned int i;
	int code = CMD_OK;

	/* An empty recording may lack the types, too. */
	if (!stk_reader__nr_types(rp->rd.reader))
		return CMD_OK;
	for (i = 0; i < rp->spec.nr_keys && !code; i++)
		if (rp->keys[i].generic == NR_VALUE_NAMES)
			code = need__field(&rp->rd, without_prefix(rp->keys[i].name));
	return code ?: rp->weight_name ? check_weight(rp) : CMD_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

const char *report__how(const struct report *rp)
{
	return how_words[rp->spec.how == WEIGH_HIST ? WEIGH_SUM : rp->spec.how];
}

struct text report__weight(const struct report *rp, uint64_t weight)
{
	return rp->weight_is_ns ? text__ns(weight) : text__number(weight);
}

/* The field of a key in the events of a group; NULL: not a field. */
static const struct ev_field *field_of(struct report *rp, const struct stack_group *g,
				       unsigned int i)
{
	const struct ev_field *field = NULL;
	enum value_name generic;

	if (values__source(rp->values, rp->spec.keys[i], g->type, &field, &generic))
		return NULL;
	return field;
}

static void put_hex(struct strbuf *b, const struct event_value *v)
{
	size_t i;

	for (i = 0; i < v->len; i++)
		strbuf__hex(b, (uint8_t)v->text[i], 2);
}

static bool is_stack(enum value_name name)
{
	return name == VALUE_KSTACK || name == VALUE_USTACK;
}

/* The address in its kernel. */
static uint64_t address_of(struct report *rp, uint64_t place)
{
	struct stk_frame f = { .ip = place };

	return stk_reader__place_symbol(rp->rd.reader, place, &f) ? place : f.ip;
}

static void put_address(struct report *rp, const struct ev_field *field, uint64_t place,
			struct strbuf *b)
{
	if (!field || field->address < EV_FUNCTION ||
	    !kernel_text__symbol(&rp->text, place, field->address == EV_CODE, b))
		strbuf__printf(b, "0x%" PRIx64, address_of(rp, place));
}

/* Appends a value as it is: texts are not escaped. */
static void put_value(struct report *rp, const struct stack_group *g, unsigned int i,
		      struct strbuf *b)
{
	const struct event_value *v = &g->keys[i];

	if (is_stack(rp->keys[i].generic)) {
		strbuf__u64(b, stack__id(rp->rd.reader, v->number));
		return;
	}
	switch (v->type) {
	case VALUE_NONE:
		strbuf__putc(b, '-');
		break;
	case VALUE_TEXT:
		strbuf__add(b, v->text, v->len);
		break;
	case VALUE_BYTES:
		put_hex(b, v);
		break;
	case VALUE_S64:
		strbuf__s64(b, v->number);
		break;
	case VALUE_U64:
		strbuf__u64(b, v->number);
		break;
	case VALUE_ADDRESS:
		put_address(rp, field_of(rp, g, i), v->number, b);
		break;
	}
}

/* Members of the record keep their names: a field has its prefix, a value of a stack, too. */
static void json_key(struct report *rp, unsigned int i)
{
	const struct report_key *key = &rp->keys[i];
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
	if (is_stack(rp->keys[i].generic)) {
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
		put_hex(&hex, v);
		json__string(j, NULL, hex.s ?: "");
		break;
	case VALUE_S64:
		json__s64(j, NULL, v->number);
		break;
	case VALUE_U64:
		json__u64(j, NULL, v->number);
		break;
	case VALUE_ADDRESS:
		json__printf(j, NULL, "0x%" PRIx64, address_of(rp, v->number));
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

	for (i = 0; i < rp->spec.nr_keys; i++) {
		if (!rp->rd.json && i)
			strbuf__putc(b, ' ');
		if (rp->keys[i].generic == VALUE_EVENT) {
			put_event(rp, g);
		} else if (rp->rd.json) {
			json_value(rp, g, i);
		} else {
			strbuf__reset(&value);
			put_value(rp, g, i, &value);
			strbuf__text(b, rp->keys[i].name);
			strbuf__putc(b, ' ');
			strbuf__safe(b, value.s ?: "", value.len);
		}
	}
	b->failed |= strbuf__failed(&value);
}

static bool explains_itself(enum value_name name)
{
	return name == VALUE_COMM || name == VALUE_SYM || name == VALUE_CALLER ||
	       name == VALUE_FILE;
}

void report__put_label(struct report *rp, const struct stack_group *g, struct strbuf *b)
{
	unsigned int i;

	for (i = 0; i < rp->spec.nr_keys; i++) {
		if (i)
			strbuf__putc(b, ' ');
		if (rp->keys[i].generic == VALUE_EVENT) {
			strbuf__printf(b, "%s:%s", stk_event_type__system(g->type),
				       stk_event_type__name(g->type));
			continue;
		}
		if (!explains_itself(rp->keys[i].generic))
			strbuf__printf(b, "%s ", rp->keys[i].name);
		put_value(rp, g, i, b);
	}
}
