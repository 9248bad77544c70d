// SPDX-License-Identifier: GPL-2.0-only
#include "probe_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../symbols/built.h"
#include "events/filter.h"
#include "log.h"
#include "strbuf.h"

static char messages[8192];

static void keep(void *ctx, enum stk_log_level level, const char *message)
{
	size_t len = strlen(messages);

	if (level <= STK_LOG_WARN)
		snprintf(messages + len, sizeof(messages) - len, "%s\n", message);
}

void probe_check__listen(void)
{
	log_set_sink(keep, NULL);
}

const char *probe_check__message(void)
{
	return messages;
}

int probe_check__resolve(struct probe_events *l, struct ksyms *syms, const char *spec,
			 const char *file)
{
	const char *placeholder = strstr(spec, "%s");
	char whole[1000];

	if (placeholder)
		snprintf(whole, sizeof(whole), "%.*s%s/%s%s", (int)(placeholder - spec), spec,
			 built__dir(), file, placeholder + 2);
	else
		snprintf(whole, sizeof(whole), "%s", spec);
	*messages = '\0';
	return probe__resolve(whole, syms, l);
}

void probe_check__refused(struct ksyms *syms, const char *spec, const char *file, int err,
			  const char *words)
{
	struct probe_events l = { 0 };

	assert_int_equal(probe_check__resolve(&l, syms, spec, file), err);
	assert_int_equal(l.nr, 0);
	assert_non_null(strchr(messages, '\n'));
	assert_ptr_equal(strchr(messages, '\n'), messages + strlen(messages) - 1);
	if (words && !strstr(messages, words))
		fail_msg("'%s' is not in: %s", words, messages);
	probe_events__clear(&l);
}

static struct ev_format *parse(const struct probe_event *e)
{
	struct ev_format *f = NULL;

	assert_int_equal(ev_format__parse(e->format, strlen(e->format), &f), 0);
	if (!ev_format__compiled(f))
		fail_msg("%s in: %s", ev_format__why(f), e->format);
	return f;
}

void probe_check__format(const struct probe_event *e, const char *fields)
{
	struct ev_format *f = parse(e);
	struct strbuf b = { 0 };
	unsigned int i, nr = 0;

	assert_string_equal(ev_format__name(f), e->event);
	assert_int_equal(ev_format__find(f, "ip")->offset, 8);
	for (i = 0; i < ev_format__nr_fields(f); i++) {
		const struct ev_field *field = ev_format__field(f, i);

		if (field->is_common || !strcmp(field->name, "ip"))
			continue;
		assert_int_equal(field->offset, 16 + 8 * nr++);
		assert_int_equal(field->kind, EV_FIELD_INT);
		strbuf__printf(&b, "%s %s:%u:%d;", field->type, field->name, field->size,
			       field->is_signed);
	}
	assert_int_equal(nr, e->probe.nr_args);
	assert_string_equal(b.s ?: "", fields);
	strbuf__free(&b);
	ev_format__free(f);
}

/* As the kernel side writes it. */
static size_t fill(uint64_t *rec, const uint64_t *values, unsigned int nr)
{
	rec[0] = 0;
	memcpy(rec + 1, values, nr * sizeof(*values));
	return (1 + nr) * sizeof(*rec);
}

void probe_check__print(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			const char *text)
{
	struct ev_print_ctx ctx = { .long_size = 8 };
	struct ev_format *f = parse(e);
	struct strbuf b = { 0 };
	uint64_t rec[20];

	ev_format__print(f, &ctx, rec, fill(rec, values, nr), &b);
	assert_string_equal(b.s, text);
	strbuf__free(&b);
	ev_format__free(f);
}

bool probe_check__filter(const struct probe_event *e, const uint64_t *values, unsigned int nr,
			 const char *filter)
{
	struct filter_prog *prog = malloc(sizeof(*prog));
	struct filter_features features = { .nr_cpus = 1 };
	struct filter_input *in = calloc(1, sizeof(*in));
	struct ev_format *f = parse(e);
	char why[200] = "";
	uint64_t rec[20];
	bool passes;

	assert_true(prog && in);
	if (filter__compile(f, filter, &features, prog, why, sizeof(why)))
		fail_msg("%s: %s", filter, why);
	in->len = fill(rec, values, nr);
	memcpy(in->rec, rec, in->len);
	passes = filter__match(prog, in);
	ev_format__free(f);
	free(prog);
	free(in);
	return passes;
}
