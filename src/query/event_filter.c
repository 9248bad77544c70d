// SPDX-License-Identifier: GPL-2.0-only
/* Compiles filters for the event types of a recording, and runs them on its events. */
#include "event_filter.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/filter.h"
#include "events/format.h"
#include "filter_test.h"
#include "trace_entry.h"
#include "values.h"

/* What filters find in filter_input.str besides the fields. */
struct host_values {
	uint64_t tests[FILTER_MAX_TESTS / 64]; /* at FILTER_INPUT_TESTS */
	uint64_t time;
	uint32_t pid, tid;
};
static_assert(sizeof(struct host_values) <= FILTER_STR_MAX, "fits into filter_input.str");

#define BYTES_PER_WORK 8 /* that are copied, for stk_reader__charge() */

/* Parts of the input that a program reads. */
enum { NEEDS_RECORD = 1 /* all of it */, NEEDS_COMM = 2, NEEDS_HOST = 4 };

struct filter_type {
	bool is_known; /* compiled, or tried */
	unsigned int needs;
	struct filter_prog *prog; /* NULL: cannot be applied */
};

struct one_filter {
	char *expr;
	struct filter_tests *tests;
	struct filter_type *types; /* by index of the event type */
	unsigned int nr_types;
};

struct event_filters {
	struct stk_reader *r;
	const struct event_filter_opts *opts;
	struct one_filter *v;
	unsigned int nr, max;
	struct ev_format **formats; /* by event type; NULL: not parsed yet */
	unsigned int nr_formats;
	uint32_t nr_cpus;
	uint64_t untested;
	struct filter_input in;
};

/* Sets are below the highest possible CPU, which older recordings do not say. */
static uint32_t count_cpus(const struct stk_reader *r)
{
	const char *text = stk_reader__meta(r, "cpus");
	unsigned long nr = text ? strtoul(text, NULL, 10) : 0;

	return nr && nr <= FILTER_MAX_CPUS ? nr : FILTER_MAX_CPUS;
}

int event_filters__new(struct stk_reader *r, const struct event_filter_opts *opts,
		       struct event_filters **ret_filters)
{
	struct event_filters *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return -ENOMEM;
	fs->r = r;
	fs->opts = opts;
	*ret_filters = fs;
	return 0;
}

void event_filters__free(struct event_filters *fs)
{
	unsigned int i, k;

	if (!fs)
		return;
	for (i = 0; i < fs->nr; i++) {
		for (k = 0; k < fs->v[i].nr_types; k++)
			free(fs->v[i].types[k].prog);
		free(fs->v[i].types);
		free(fs->v[i].expr);
		filter_tests__free(fs->v[i].tests);
	}
	for (i = 0; i < fs->nr_formats; i++)
		ev_format__free(fs->formats[i]);
	free(fs->v);
	free(fs->formats);
	free(fs);
}

int event_filters__add(struct event_filters *fs, const char *expr)
{
	struct one_filter f = { 0 };

	if (array__grow(&fs->v, fs->nr, &fs->max))
		return -ENOMEM;
	f.expr = strdup(expr);
	if (!f.expr)
		return -ENOMEM;
	if (filter_tests__new(fs->r, fs->opts, &f.tests)) {
		free(f.expr);
		return -ENOMEM;
	}
	fs->v[fs->nr] = f;
	return fs->nr++;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* While an expression is compiled. */
struct names {
	struct filter_tests *tests;
	const struct ev_format *format;
	const struct filter_features *features;
	bool is_unknown; /* there is a name that is neither a field nor a value */
};

#define AT_HOST(member)                                                                         \
	{                                                                                       \
		FILTER_VALUE_NUMBER, FILTER_INPUT_TESTS + offsetof(struct host_values, member), \
			sizeof(((struct host_values *)0)->member), 0, false, true               \
	}
#define TEST(what, is_text, is_number)                                           \
	{                                                                        \
		FILTER_VALUE_TEST, FILTER_INPUT_REC, 0, what, is_text, is_number \
	}

static bool find_name(void *ctx, const char *name, struct filter_value *ret_value)
{
	static const struct filter_value stacks = TEST(TEST_OF_STACKS, false, true);
	/* clang-format off */
	static const struct filter_value values[NR_VALUE_NAMES] = {
		[VALUE_EVENT] = TEST(TEST_OF_EVENT, true, false),
		[VALUE_TIME] = AT_HOST(time),
		[VALUE_CPU] = { .type = FILTER_VALUE_CPU },
		[VALUE_PID] = AT_HOST(pid),
		[VALUE_TID] = AT_HOST(tid),
		[VALUE_COMM] = TEST(TEST_OF_COMM, true, false),
		[VALUE_KSTACK] = TEST(TEST_OF_KSTACK, true, true),
		[VALUE_USTACK] = TEST(TEST_OF_USTACK, true, true),
		[VALUE_SYM] = TEST(TEST_OF_SYM, true, false),
		[VALUE_CALLER] = TEST(TEST_OF_CALLER, true, false),
		[VALUE_FILE] = TEST(TEST_OF_FILE, true, false),
		[VALUE_HOST] = TEST(TEST_OF_HOST, true, false),
	};
	/* clang-format on */
	struct names *names = ctx;
	enum value_name value;
	bool is_full;

	if (!strcmp(name, "stack_id") || !strcmp(name, "event.stack_id")) {
		*ret_value = stacks;
		return true;
	}
	value = value_name__find(name, &is_full);
	if (value == NR_VALUE_NAMES) {
		names->is_unknown = true;
		return false;
	}
	*ret_value = values[value];
	return true;
}

static int add_test(void *ctx, const struct filter_test *test)
{
	struct names *names = ctx;

	return filter_tests__add(names->tests, names->format, names->features, test);
}

/* What is left of an event whose format is missing or damaged: the values that all events have. */
static const char no_fields[] = "name: unknown\nID: 0\n" TRACE_ENTRY_FORMAT "print fmt: \"\"\n";

/* NULL: out of memory. */
static const struct ev_format *format_of(struct event_filters *fs, const struct stk_event_type *t)
{
	unsigned int i = stk_event_type__index(t);
	const char *text = stk_event_type__format(t);
	int err = -EINVAL;

	if (array__reach(&fs->formats, i, &fs->nr_formats))
		return NULL;
	if (!fs->formats[i] && *text)
		err = ev_format__parse(text, strlen(text), &fs->formats[i]);
	if (!fs->formats[i] && err != -ENOMEM)
		err = ev_format__parse(no_fields, strlen(no_fields), &fs->formats[i]);
	return fs->formats[i];
}

static int compile(struct event_filters *fs, const struct one_filter *f,
		   const struct stk_event_type *t, struct filter_prog *ret_prog, char *why,
		   size_t size)
{
	struct names names = { .tests = f->tests, .format = format_of(fs, t) };
	const struct filter_names find = { find_name, add_test, &names };
	struct filter_features features = {
		.function = true, .cpus = true, .common_cpu = true, .names = &find
	};
	int err;

	if (!fs->nr_cpus)
		fs->nr_cpus = count_cpus(fs->r);
	features.nr_cpus = fs->nr_cpus;
	names.features = &features;
	if (!names.format)
		return -ENOMEM;
	err = filter__compile(names.format, f->expr, &features, ret_prog, why, size);
	return err == -EINVAL && names.is_unknown ? -ENOENT : err;
}

int event_filters__check(struct event_filters *fs, unsigned int nr, const struct stk_event_type *t,
			 char *why, size_t size)
{
	_cleanup_free_ struct filter_prog *prog = malloc(sizeof(*prog));

	/* A hostile recording may have any number of types. */
	if (stk_reader__charge(fs->r, 0, sizeof(*prog) / BYTES_PER_WORK))
		return -ENOBUFS;
	return prog ? compile(fs, &fs->v[nr], t, prog, why, size) : -ENOMEM;
}

static unsigned int needs_of(const struct filter_prog *p)
{
	unsigned int i, needs = 0;

	for (i = 0; i < p->nr_preds; i++) {
		const struct filter_pred *pred = &p->preds[i];

		if (pred->kind == FILTER_KIND_FALSE)
			continue;
		if (pred->offset >= FILTER_INPUT_TESTS)
			needs |= NEEDS_HOST;
		if (pred->offset == FILTER_INPUT_COMM)
			needs |= NEEDS_COMM;
		if (pred->kind == FILTER_KIND_CPUMASK_EQ || pred->kind == FILTER_KIND_CPUMASK_AND ||
		    (pred->kind == FILTER_KIND_STRING && pred->str.source != FILTER_STR_FIXED))
			needs |= NEEDS_RECORD;
	}
	return needs;
}

static int compile_type(struct event_filters *fs, struct one_filter *f, struct filter_type *ft,
			const struct stk_event_type *t)
{
	_cleanup_free_ struct filter_prog *prog = NULL;
	char why[FILTER_ERROR_SIZE];
	int err = stk_reader__charge(fs->r, sizeof(*prog), sizeof(*prog));

	if (err)
		return err;
	prog = malloc(sizeof(*prog));
	err = prog ? compile(fs, f, t, prog, why, sizeof(why)) : -ENOMEM;
	if (err == -ENOMEM || err == -ENOBUFS)
		return err;
	ft->is_known = true;
	if (err)
		return 0;
	ft->needs = needs_of(prog);
	ft->prog = take_ptr(prog);
	return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

/* A hostile recording may have many events with one long record. */
#define FREE_BYTES 512 /* of a record */

static int fill_record(struct event_filters *fs, const struct filter_type *ft,
		       const struct stk_event *e)
{
	const void *rec;
	size_t len, copy;

	rec = stk_event__record(e, &len);
	len = rec ? MIN(len, (size_t)FILTER_REC_MAX) : 0;
	copy = ft->needs & NEEDS_RECORD ? len : MIN(len, (size_t)ft->prog->min_len);
	if (copy > FREE_BYTES && stk_reader__charge(fs->r, 0, copy / BYTES_PER_WORK))
		return -ENOBUFS;
	memcpy(fs->in.rec, rec ?: "", copy);
	fs->in.len = len;
	return 0;
}

/* Fills the parts of the input that the program reads. */
static int fill(struct event_filters *fs, const struct one_filter *f, const struct filter_type *ft,
		const struct stk_event *e)
{
	struct host_values *host = (struct host_values *)fs->in.str;
	int err = 0;

	fs->in.cpu = stk_event__cpu(e);
	fs->in.len = 0;
	if (ft->prog->min_len || ft->needs & NEEDS_RECORD)
		err = fill_record(fs, ft, e);
	if (ft->needs & NEEDS_COMM) {
		const char *comm = stk_event__comm(e);
		size_t len = strnlen(comm, FILTER_COMM_LEN - 1);

		memset(fs->in.comm, 0, sizeof(fs->in.comm));
		memcpy(fs->in.comm, comm, len);
	}
	if (ft->needs & NEEDS_HOST) {
		host->time = stk_event__ts(e);
		host->pid = stk_event__pid(e);
		host->tid = stk_event__tid(e);
		err = err ?: filter_tests__run(f->tests, e, host->tests);
	}
	return err;
}

int event_filters__match(struct event_filters *fs, unsigned int nr, const struct stk_event *e)
{
	const struct stk_event_type *t = stk_event__type(e);
	struct one_filter *f = &fs->v[nr];
	unsigned int i = stk_event_type__index(t);
	struct filter_type *ft;
	int err = 0;

	if (i >= f->nr_types && array__reach(&f->types, i, &f->nr_types))
		return -ENOMEM;
	ft = &f->types[i];
	if (!ft->is_known)
		err = compile_type(fs, f, ft, t);
	if (err || !ft->prog)
		return err;
	err = fill(fs, f, ft, e);
	if (err)
		return err;
	if (fs->in.len < ft->prog->min_len) {
		fs->untested++;
		return 0;
	}
	return filter__match(ft->prog, &fs->in);
}

uint64_t event_filters__untested(const struct event_filters *fs)
{
	return fs->untested;
}

bool event_filters__user_names(const struct event_filters *fs)
{
	unsigned int i;

	for (i = 0; i < fs->nr; i++)
		if (filter_tests__user_names(fs->v[i].tests))
			return true;
	return false;
}
