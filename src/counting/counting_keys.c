// SPDX-License-Identifier: GPL-2.0-only
/* Looks up what events are grouped and weighed by, and writes the values of groups. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "counting_priv.h"
#include "log.h"
#include "ui/frames.h"
#include "ui/need.h"

static const char *const how_words[] = {
	[WEIGH_SUM] = "sum", [WEIGH_AVG] = "avg", [WEIGH_P50] = "p50",
	[WEIGH_P99] = "p99", [WEIGH_MAX] = "max", [WEIGH_HIST] = "hist",
};

/* Fields in ns whose name does not say so, of the scheduler's events. */
static const char *const ns_fields[] = { "delay", "runtime" };

static const char *shown_name(void *names, const char *sym)
{
	return user_names__function(names, sym);
}

/* Adds a name to the values; an exit code. */
static int add_name(struct counting *c, const char *option, const char *name, unsigned int *ret_nr)
{
	int nr = values__add(c->values, name, VALUE_PREFER_GENERIC);

	if (nr == -EINVAL)
		return ui__usage_error(c->rd->command,
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

static int add_key(struct counting *c, const char *name)
{
	struct stack_spec *spec = &c->spec;
	struct counting_key *key;
	unsigned int i, nr = 0;
	int code;

	if (spec->nr_keys == COUNTING_KEYS)
		return ui__usage_error(c->rd->command, "--by takes at most %u names: '%s'",
				       COUNTING_KEYS, c->by);
	code = add_name(c, "by", name, &nr);
	if (code)
		return code;
	key = &c->keys[spec->nr_keys];
	key->generic = values__generic(c->values, nr);
	if (key->generic != NR_VALUE_NAMES)
		name = value_names[key->generic].name;
	for (i = 0; i < spec->nr_keys; i++)
		if (!strcmp(c->keys[i].name, name))
			return ui__usage_error(c->rd->command, "--by has '%s' twice", name);
	key->name = strdup(name);
	if (!key->name) {
		log_err(-ENOMEM, "look up '%s'", name);
		return CMD_FAILURE;
	}
	spec->keys[spec->nr_keys++] = nr;
	c->nr_keys++;
	return CMD_OK;
}

static int add_keys(struct counting *c)
{
	_cleanup_free_ char *copy = strdup(c->by);
	char *rest = copy, *name;
	int code = CMD_OK;

	if (!copy) {
		log_err(-ENOMEM, "look up '%s'", c->by);
		return CMD_FAILURE;
	}
	while (!code && (name = strsep(&rest, ",")))
		code = add_key(c, name);
	return code;
}

static bool has_event(const struct counting *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_keys && c->keys[i].generic != VALUE_EVENT; i++)
		;
	return i < c->nr_keys;
}

/* Splits the groups by event, which is not among the keys that are shown. */
static int add_event(struct counting *c)
{
	unsigned int shown = c->nr_keys, nr = 0;
	int code;

	if (has_event(c))
		return CMD_OK;
	code = add_name(c, "by", value_names[VALUE_EVENT].name, &nr);
	c->keys[shown].generic = VALUE_EVENT;
	c->spec.keys[c->spec.nr_keys++] = nr;
	return code;
}

/* "FIELD", "FIELD:HOW" */
static int add_weight(struct counting *c)
{
	const char *how = strchr(c->weigh, ':');
	unsigned int i = 0;

	c->weight_name = strndup(c->weigh, how ? how - c->weigh : (ssize_t)strlen(c->weigh));
	if (!c->weight_name) {
		log_err(-ENOMEM, "look up '%s'", c->weigh);
		return CMD_FAILURE;
	}
	while (how && i < ARRAY_SIZE(how_words) && strcmp(how + 1, how_words[i]))
		i++;
	if (i == ARRAY_SIZE(how_words))
		return ui__usage_error(c->rd->command,
				       "--weigh %s: expects FIELD, or FIELD with :sum, :avg, :p50, "
				       ":p99, :max or :hist",
				       c->weigh);
	c->spec.how = i;
	c->spec.weighed = true;
	return add_name(c, "weigh", c->weight_name, &c->spec.weight);
}

int counting__start(struct counting *c, struct reading *rd)
{
	struct value_frames frames = {
		.no_kernel = c->stacks == STACKS_USER,
		.no_user = c->stacks == STACKS_KERNEL,
		.function = shown_name,
		.ctx = &rd->names,
	};
	int err = values__new(rd->reader, &c->values);

	if (err) {
		log_err(err, "look up values");
		return CMD_FAILURE;
	}
	c->rd = rd;
	values__set_frames(c->values, &frames);
	c->spec.values = c->values;
	c->spec.stacks = c->stacks ?: STACKS_KERNEL | STACKS_USER;
	c->text = (struct kernel_text){ .reader = rd->reader, .of_places = true };
	return add_keys(c)				     ?:
		       (c->by_event ? add_event(c) : CMD_OK) ?:
		       c->weigh				     ? add_weight(c) :
							       CMD_OK;
}

/* Whether --by or --weigh may need fields of events. */
static bool needs_fields(const struct counting *c)
{
	_cleanup_free_ char *copy = strdup(c->by);
	char *rest = copy, *name;

	while ((name = strsep(&rest, ",")))
		if (!value_name__is_generic(name))
			return true;
	return c->weigh || !copy;
}

unsigned int counting__wants(const struct counting *c)
{
	return needs_fields(c) ? STK_WANT_FIELDS : 0;
}

bool counting__needs_events(const struct counting *c)
{
	_cleanup_free_ char *copy = strdup(c->by);
	char *rest = copy, *name;
	bool is_full;

	while ((name = strsep(&rest, ",")))
		if (value_name__find(name, &is_full) == VALUE_TIME)
			return true;
	return needs_fields(c);
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
static int check_weight(struct counting *c)
{
	unsigned int nr = stk_reader__nr_types(c->rd->reader), i, numbers = 0, times = 0;
	const char *name = without_prefix(c->weight_name);
	const struct ev_field *field;
	enum value_name generic;

	if (values__generic(c->values, c->spec.weight) != NR_VALUE_NAMES) {
		generic = values__generic(c->values, c->spec.weight);
		if (value_names[generic].type == VALUE_TEXT) {
			log_err(0, "--weigh: '%s' is a text, a weight must be a number",
				c->weight_name);
			return CMD_FAILURE;
		}
		return CMD_OK;
	}
	for (i = 0; i < nr; i++) {
		const struct stk_event_type *t = stk_reader__type(c->rd->reader, i);

		if (values__source(c->values, c->spec.weight, t, &field, &generic) || !field ||
		    field->kind != EV_FIELD_INT)
			continue;
		numbers++;
		times += is_ns(t, name);
	}
	c->weight_is_ns = numbers && times == numbers;
	if (numbers)
		return CMD_OK;
	if (need__field(c->rd, name) == CMD_OK)
		log_err(0, "--weigh: '%s' is no number in any event of '%s'", c->weight_name,
			c->rd->path);
	return CMD_FAILURE;
}

int counting__check(struct counting *c)
{
	unsigned int i;
	int code = CMD_OK;

	/* An empty recording may lack the types, too. */
	if (!stk_reader__nr_types(c->rd->reader))
		return CMD_OK;
	for (i = 0; i < c->nr_keys && !code; i++)
		if (c->keys[i].generic == NR_VALUE_NAMES)
			code = need__field(c->rd, without_prefix(c->keys[i].name));
	return code ?: c->weight_name ? check_weight(c) : CMD_OK;
}

/* ---- output ---------------------------------------------------------------------------------- */

const char *counting__how(const struct counting *c)
{
	return how_words[c->spec.how == WEIGH_HIST ? WEIGH_SUM : c->spec.how];
}

/* The field of a key in the events of a group; NULL: not a field. */
static const struct ev_field *field_of(struct counting *c, const struct stack_group *g,
				       unsigned int i)
{
	const struct ev_field *field = NULL;
	enum value_name generic;

	if (values__source(c->values, c->spec.keys[i], g->type, &field, &generic))
		return NULL;
	return field;
}

void event_value__put_hex(struct strbuf *b, const struct event_value *v)
{
	size_t i;

	for (i = 0; i < v->len; i++)
		strbuf__hex(b, (uint8_t)v->text[i], 2);
}

uint64_t counting__address(const struct counting *c, uint64_t place)
{
	struct stk_frame f = { .ip = place };

	return stk_reader__place_symbol(c->rd->reader, place, &f) ? place : f.ip;
}

static void put_address(struct counting *c, const struct ev_field *field, uint64_t place,
			struct strbuf *b)
{
	if (!field || field->address < EV_FUNCTION ||
	    !kernel_text__symbol(&c->text, place, field->address == EV_CODE, b))
		strbuf__printf(b, "0x%" PRIx64, counting__address(c, place));
}

void counting__put_value(struct counting *c, const struct stack_group *g, unsigned int i,
			 struct strbuf *b)
{
	const struct event_value *v = &g->keys[i];

	if (c->keys[i].generic == VALUE_EVENT) {
		strbuf__printf(b, "%s:%s", stk_event_type__system(g->type),
			       stk_event_type__name(g->type));
		return;
	}
	if (counting_key__is_stack(&c->keys[i])) {
		strbuf__u64(b, stack__id(c->rd->reader, v->number));
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
		event_value__put_hex(b, v);
		break;
	case VALUE_S64:
		strbuf__s64(b, v->number);
		break;
	case VALUE_U64:
		strbuf__u64(b, v->number);
		break;
	case VALUE_ADDRESS:
		put_address(c, field_of(c, g, i), v->number, b);
		break;
	}
}

bool counting_key__is_plain(const struct counting_key *key)
{
	return key->generic == VALUE_EVENT || key->generic == VALUE_COMM ||
	       key->generic == VALUE_SYM || key->generic == VALUE_CALLER ||
	       key->generic == VALUE_FILE;
}

bool counting__is_number(const struct counting *c, unsigned int key)
{
	unsigned int i;

	for (i = 0; i < c->nr_groups; i++)
		if (c->groups[i].keys[key].type != VALUE_U64 &&
		    c->groups[i].keys[key].type != VALUE_S64)
			return false;
	return true;
}
