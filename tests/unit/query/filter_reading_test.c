// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading with a filter selects the same as recording with it: random expressions, compiled as a
 * recorder does and run on its input, and as a reader does and run on the events of a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../live/prog/filter_gen.h"
#include "../common_fields.h"
#include "cleanup.h"
#include "events/filter.h"
#include "events/format.h"
#include "query/event_filter.h"
#include "trace/write/writer.h"

#define NR_TYPES 3
#define NR_EVENTS 90 /* of each type */
#define NR_EXPRS 1200
#define NR_CPUS 4

#define FIELD(decl, offset, size, sign) \
	"\tfield:" decl ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define NUMBERS                    \
	FIELD("u8 u8", 8, 1, 0)    \
	FIELD("s8 s8", 9, 1, 1)    \
	FIELD("u16 u16", 10, 2, 0) \
	FIELD("s32 s32", 12, 4, 1) FIELD("u64 u64", 16, 8, 0) FIELD("s64 s64", 24, 8, 1)
#define STRINGS(name, data, rel)              \
	FIELD("char " name "[16]", 32, 16, 0) \
	FIELD("__data_loc char[] " data, 48, 4, 0) FIELD("__rel_loc char[] " rel, 52, 4, 0)
#define REST(number, other)                          \
	FIELD("__data_loc cpumask_t mask", 56, 4, 0) \
	FIELD("u32 " number, 60, 4, 0) FIELD("int " other, 64, 4, 1)

/* Names of generic values for fields of the same kind, of another one, and none of them. */
static const char *const formats[NR_TYPES] = {
	"name: hides\nID: 1\n" COMMON NUMBERS STRINGS("comm", "event", "ustack")
		REST("pid", "cpu") "\nprint fmt: \"\"\n",
	"name: mixes\nID: 2\n" COMMON NUMBERS STRINGS("time", "cpu", "stack_id")
		REST("comm", "kstack") "\nprint fmt: \"\"\n",
	"name: plain\nID: 3\n" COMMON NUMBERS STRINGS("name", "data", "rel")
		REST("number", "other") "\nprint fmt: \"\"\n",
};

struct record_data {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t tid;
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	char text[16];
	uint32_t data, rel, mask, number;
	int32_t other;
	uint32_t pad;
	uint64_t mask_data;
	char data_text[16], rel_text[16];
};
_Static_assert(offsetof(struct record_data, text) == 32, "as in the format");
_Static_assert(offsetof(struct record_data, other) == 64, "as in the format");

static const char *const comms[] = { "alpha", "beta", "fifteen_chars_x", "b", NULL };

/* The events of a type as a recorder sees them. */
struct seen {
	struct filter_input *in;
	struct record_data data[NR_EVENTS];
	struct record samples[NR_EVENTS];
	struct event e;
};

struct expr {
	char text[MAX_EXPR_TEXT];
	unsigned int type;
	struct filter_prog *prog; /* a recorder's; NULL: refused */
	int nr; /* of the reader's */
	bool is_refused; /* by the reader */
};

static struct seen seen[NR_TYPES];
static struct expr exprs[NR_EXPRS];
static struct rng rng = { .state = 20261125 };

static void fill_text(char *to, size_t size)
{
	static const char *const words[] = { "alpha", "beta", "abc", "/etc/passwd", "x", "" };

	strncpy(to, words[rng__below(&rng, ARRAY_SIZE(words))], size - 1);
}

static void fill_record(struct record_data *d, unsigned int type)
{
	*d = (struct record_data){ .type = type + 1 };
	d->flags = rng__below(&rng, 256);
	d->preempt_count = rng__below(&rng, 4);
	d->u8 = rng__below(&rng, 8);
	d->s8 = rng__below(&rng, 8) - 4;
	d->u16 = rng__below(&rng, 8);
	d->s32 = rng__below(&rng, 8) - 4;
	d->u64 = rng__below(&rng, 3) ? rng__below(&rng, 8) : UINT64_MAX - rng__below(&rng, 8);
	d->s64 = (int64_t)rng__below(&rng, 8) - 4;
	d->number = rng__below(&rng, NR_CPUS);
	d->other = (int)rng__below(&rng, NR_CPUS + 1) - 1;
	fill_text(d->text, sizeof(d->text));
	fill_text(d->data_text, sizeof(d->data_text));
	fill_text(d->rel_text, sizeof(d->rel_text));
	d->mask_data = rng__below(&rng, 1 << NR_CPUS);
	d->data = (strlen(d->data_text) + 1) << 16 | offsetof(struct record_data, data_text);
	d->rel = (strlen(d->rel_text) + 1) << 16 |
		 (offsetof(struct record_data, rel_text) - offsetof(struct record_data, rel) - 4);
	d->mask = 8 << 16 | offsetof(struct record_data, mask_data);
}

static void add_event(struct stk_writer *w, unsigned int type, unsigned int i)
{
	struct seen *s = &seen[type];
	struct filter_input *in = &s->in[i];
	struct record_data *d = &s->data[i];
	unsigned int task = rng__below(&rng, 4);
	struct stk_writer_event e = { .cpu = rng__below(&rng, NR_CPUS),
				      .ts = 1000 + i * NR_TYPES + type,
				      .event = type,
				      .record = d,
				      .record_len = sizeof(*d) };

	fill_record(d, type);
	d->tid = 100 + task;
	e.flags = d->flags;
	e.preempt_count = d->preempt_count;
	assert_int_equal(
		stk_writer__task(w, d->tid, 100, comms[task], strlen(comms[task]), &e.task), 0);
	assert_int_equal(stk_writer__event(w, &e), 0);
	in->len = sizeof(*d);
	in->cpu = e.cpu;
	memcpy(in->comm, comms[task], strlen(comms[task]));
	memcpy(in->rec, d, sizeof(*d));
	s->samples[i] = (struct record){ .type = d->type,
					 .cpu = e.cpu,
					 .pid = d->tid,
					 .len = sizeof(*d),
					 .data = (const uint8_t *)d };
}

static struct stk_reader *make_recording(void)
{
	static const char *const names[NR_TYPES] = { "hides", "mixes", "plain" };
	const struct stk_writer_opts opts = { .nr_cpus = NR_CPUS };
	char path[] = "/tmp/filter-XXXXXX";
	struct stk_reader *r;
	struct stk_writer *w;
	unsigned int t, i;

	assert_int_equal(stk_writer__new(mkstemp(path), &opts, &w), 0);
	assert_int_equal(stk_writer__meta(w, "cpus", "4"), 0);
	for (t = 0; t < NR_TYPES; t++) {
		seen[t].in = calloc(NR_EVENTS, sizeof(*seen[t].in));
		assert_non_null(seen[t].in);
		assert_int_equal(
			stk_writer__type(w, STK_KIND_TRACEPOINT, "t", names[t], "", formats[t]), t);
		assert_int_equal(ev_format__parse(formats[t], strlen(formats[t]), &seen[t].e.fmt),
				 0);
		seen[t].e.samples = seen[t].samples;
		seen[t].e.nr_samples = NR_EVENTS;
	}
	for (i = 0; i < NR_EVENTS; i++)
		for (t = 0; t < NR_TYPES; t++)
			add_event(w, t, i);
	assert_int_equal(stk_writer__end_round(w, UINT64_MAX, 0), 0);
	assert_int_equal(stk_writer__finish(w, "test", 0), 0);
	stk_writer__free(w);
	assert_int_equal(stk_reader__open(path, NULL, &r), 0);
	unlink(path);
	return r;
}

/* The expression for both; what a recorder accepts must be accepted, with few exceptions. */
static void make_expr(struct generator *g, struct event_filters *fs, struct expr *x, bool spoil)
{
	const struct filter_features features = { .cpus = true,
						  .common_cpu = true,
						  .nr_cpus = NR_CPUS };
	char why[FILTER_ERROR_SIZE];

	x->type = rng__below(&rng, NR_TYPES);
	generate(g, &seen[x->type].e, x->text);
	if (spoil)
		mutate(g, x->text);
	x->prog = malloc(sizeof(*x->prog));
	assert_non_null(x->prog);
	if (filter__compile(seen[x->type].e.fmt, x->text, &features, x->prog, why, sizeof(why))) {
		free(x->prog);
		x->prog = NULL;
	}
	x->nr = event_filters__add(fs, x->text);
	assert_true(x->nr >= 0);
}

static void check_acceptance(struct stk_reader *r, struct event_filters *fs)
{
	char why[FILTER_ERROR_SIZE];
	unsigned int i, accepted = 0;

	for (i = 0; i < NR_EXPRS; i++) {
		struct expr *x = &exprs[i];

		x->is_refused = event_filters__check(fs, x->nr, stk_reader__type(r, x->type), why,
						     sizeof(why));
		if (x->prog && x->is_refused)
			fail_msg("a reader refuses '%s': %s", x->text, why);
		accepted += x->prog != NULL;
	}
	assert_true(accepted >= 1000);
}

static void test_same(void **state)
{
	struct stk_reader *r = make_recording();
	struct generator g = { .nr_cpus = NR_CPUS, .cpus = true, .comms = comms };
	unsigned int i, selected = 0, compared = 0, nr[NR_TYPES] = { 0 };
	_cleanup_(event_filters__freep) struct event_filters *fs = NULL;
	const struct stk_event *e;

	g.rng.state = 7;
	assert_int_equal(event_filters__new(r, NULL, &fs), 0);
	for (i = 0; i < NR_EXPRS; i++)
		make_expr(&g, fs, &exprs[i], i % 10 == 9);
	for (unsigned int n = 0; stk_reader__next(r, &e) == 1; n++) {
		unsigned int type = stk_event_type__index(stk_event__type(e));

		if (!n)
			check_acceptance(r, fs);
		for (i = 0; i < NR_EXPRS; i++) {
			const struct expr *x = &exprs[i];
			bool ours, theirs;

			if (!x->prog || x->type != type)
				continue;
			ours = event_filters__match(fs, x->nr, e);
			theirs = filter__match(x->prog, &seen[type].in[nr[type]]);
			if (ours != theirs)
				fail_msg("event %u of type %u: a reader says %d, a recorder %d: %s",
					 nr[type], type, ours, theirs, x->text);
			selected += ours;
			compared++;
		}
		nr[type]++;
	}
	assert_int_equal(nr[0] + nr[1] + nr[2], NR_TYPES * NR_EVENTS);
	assert_true(selected > compared / 10 && selected < compared / 10 * 9);
	print_message("%u comparisons, %u selected\n", compared, selected);
	for (i = 0; i < NR_EXPRS; i++)
		free(exprs[i].prog);
	for (i = 0; i < NR_TYPES; i++) {
		ev_format__free(seen[i].e.fmt);
		free(seen[i].in);
	}
	stk_reader__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
