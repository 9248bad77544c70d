// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison is compiled once more, as a filter of its own whose input is a name or a stack id in
 * place of a record.  So names match as fields do.
 */
#include "filter_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/filter.h"
#include "stack_names.h"

#define NAME_AT 8 /* of the name in the record; before it, where it is, as in a __data_loc field */
#define MAX_NAME (FILTER_REC_MAX - NAME_AT - 1)

#define WORK_FRAME 64 /* of a frame, for stk_reader__charge() */

enum answer { UNKNOWN, NO, YES };

struct one_test {
	size_t at; /* in the expression */
	enum filter_test_of of;
	bool is_text; /* compares names, not ids */
	bool invert;
	struct filter_prog *prog; /* NULL: TEST_OF_FUNCTION */
	uint32_t offset; /* of the field in the record: TEST_OF_FUNCTION, TEST_OF_COPY */
	struct {
		char *name; /* NULL: the function at addr */
		uint64_t addr;
		uint64_t last; /* address; with its answer, or UNKNOWN */
		enum answer answer;
	} function;
	uint8_t *answers; /* enum answer, by stack number or event type */
	uint32_t nr_answers;
};

struct filter_tests {
	struct stk_reader *r;
	const struct event_filter_opts *opts;
	struct one_test *v;
	unsigned int nr, max;
	struct filter_input *in; /* NULL: there is no test */
	struct stack_names *names; /* NULL: not asked for */
	uint64_t names_memory; /* of which the budget knows */
};

int filter_tests__new(struct stk_reader *r, const struct event_filter_opts *opts,
		      struct filter_tests **ret_tests)
{
	struct filter_tests *ts = calloc(1, sizeof(*ts));

	if (!ts)
		return -ENOMEM;
	ts->r = r;
	ts->opts = opts;
	*ret_tests = ts;
	return 0;
}

void filter_tests__free(struct filter_tests *ts)
{
	unsigned int i;

	if (!ts)
		return;
	for (i = 0; i < ts->nr; i++) {
		free(ts->v[i].prog);
		free(ts->v[i].function.name);
		free(ts->v[i].answers);
	}
	stack_names__free(ts->names);
	free(ts->v);
	free(ts->in);
	free(ts);
}

/* Compiles the comparison alone: its value is in the record. */
static int compile(const struct ev_format *format, const struct filter_features *features,
		   const struct filter_test *test, struct filter_prog *ret_prog)
{
	_cleanup_free_ char *text = strndup(test->text, test->len);
	struct filter_names names = *features->names;
	struct filter_features alone = *features;
	char why[FILTER_ERROR_SIZE];

	if (!text)
		return -ENOMEM;
	names.add_test = NULL;
	alone.names = &names;
	return filter__compile(format, text, &alone, ret_prog, why, sizeof(why));
}

static int set_function(const struct filter_test *test, struct one_test *t)
{
	t->function.addr = test->addr;
	if (test->name_len)
		t->function.name = strndup(test->name, test->name_len);
	return test->name_len && !t->function.name ? -ENOMEM : 0;
}

static int set_program(const struct ev_format *format, const struct filter_features *features,
		       const struct filter_test *test, struct one_test *t)
{
	int err;

	t->prog = malloc(sizeof(*t->prog));
	if (!t->prog)
		return -ENOMEM;
	err = compile(format, features, test, t->prog);
	if (err) {
		free(t->prog);
		return err;
	}
	t->prog->min_len = 0; /* of the event's record */
	t->is_text = t->prog->preds[0].kind == FILTER_KIND_STRING;
	return 0;
}

int filter_tests__add(struct filter_tests *ts, const struct ev_format *format,
		      const struct filter_features *features, const struct filter_test *test)
{
	struct one_test t = { .at = test->at,
			      .of = test->is_function ? TEST_OF_FUNCTION :
				    test->is_copy     ? TEST_OF_COPY :
							test->what,
			      .invert = test->invert && !test->is_copy,
			      .offset = test->offset };
	unsigned int i;
	int err;

	for (i = 0; i < ts->nr; i++)
		if (ts->v[i].at == t.at && ts->v[i].of == t.of && ts->v[i].offset == t.offset)
			return i;
	if (ts->nr == FILTER_MAX_TESTS)
		return -E2BIG;
	if (!ts->in)
		ts->in = calloc(1, sizeof(*ts->in));
	if (!ts->in || array__grow(&ts->v, ts->nr, &ts->max))
		return -ENOMEM;
	err = test->is_function ? set_function(test, &t) : set_program(format, features, test, &t);
	if (err)
		return err;
	ts->v[ts->nr] = t;
	return ts->nr++;
}

/* Whether an event, or what it has, passes: 1 or 0; -ENOMEM, -ENOBUFS: unknown. */

static int test_id(struct filter_tests *ts, const struct one_test *t, uint32_t number)
{
	struct stk_stack stack = { 0 };

	if (stk_reader__stack(ts->r, number, &stack))
		stack.id = 0;
	memcpy(ts->in->rec, &stack.id, sizeof(stack.id));
	ts->in->len = sizeof(stack.id);
	return filter__match(t->prog, ts->in) != t->invert;
}

static int test_text(struct filter_tests *ts, const struct one_test *t, const char *name,
		     size_t len)
{
	uint32_t where = (uint32_t)(len + 1) << 16 | NAME_AT;
	int err = stk_reader__charge(ts->r, 0, len);

	if (err)
		return err;
	memcpy(ts->in->rec, &where, sizeof(where));
	memcpy(ts->in->rec + NAME_AT, name, len);
	ts->in->rec[NAME_AT + len] = '\0';
	ts->in->len = NAME_AT + len + 1;
	return filter__match(t->prog, ts->in) != t->invert;
}

static int test_name(struct filter_tests *ts, const struct one_test *t, const char *name)
{
	size_t len = name ? strnlen(name, MAX_NAME) : 0;

	return len ? test_text(ts, t, name, len) : 0;
}

static int test_frame(struct filter_tests *ts, const struct one_test *t, const struct stk_frame *f)
{
	const struct event_filter_opts *opts = ts->opts;
	struct stk_file file;
	int got = test_name(ts, t, f->sym) ?: test_name(ts, t, f->mod);

	if (!got && f->sym && opts && opts->function)
		got = test_name(ts, t, opts->function(opts->ctx, f->sym));
	if (!got && f->kind == STK_FRAME_USER && f->file &&
	    !stk_reader__file(ts->r, f->file, &file))
		got = test_name(ts, t, file.path);
	return got;
}

static int test_frames(struct filter_tests *ts, const struct one_test *t, uint32_t number)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	int n = stk_reader__frames(ts->r, number, frames, STK_MAX_DEPTH), i, got = 0;

	n = MIN(n, STK_MAX_DEPTH);
	if (n > 0)
		got = stk_reader__charge(ts->r, 0, n * WORK_FRAME);
	for (i = 0; i < n && !got; i++)
		got = test_frame(ts, t, &frames[i]);
	return got;
}

static int test_event(struct filter_tests *ts, const struct one_test *t,
		      const struct stk_event_type *type)
{
	char name[MAX_NAME + 1];

	snprintf(name, sizeof(name), "%s:%s", stk_event_type__system(type),
		 stk_event_type__name(type));
	return test_name(ts, t, name);
}

/* Sets where the answer to question i is remembered. */
static int answer_of(struct filter_tests *ts, struct one_test *t, uint32_t i, uint8_t **ret_answer)
{
	uint32_t old = t->nr_answers;
	int err = 0;

	if (i >= old)
		err = array__reach(&t->answers, i, &t->nr_answers) ?:
			      stk_reader__charge(ts->r, t->nr_answers - old, 0);
	if (!err)
		*ret_answer = &t->answers[i];
	return err;
}

static int remember(uint8_t *answer, int got)
{
	if (got >= 0)
		*answer = got ? YES : NO;
	return got;
}

static int stack_passes(struct filter_tests *ts, struct one_test *t, uint32_t number)
{
	uint8_t *a;
	int err;

	if (!number)
		return !t->is_text && test_id(ts, t, number);
	if (number > stk_reader__nr_stacks(ts->r))
		return 0;
	err = answer_of(ts, t, number, &a);
	if (err || *a != UNKNOWN)
		return err ?: *a == YES;
	return remember(a, t->is_text ? test_frames(ts, t, number) : test_id(ts, t, number));
}

static int stacks_pass(struct filter_tests *ts, struct one_test *t, const struct stk_event *e)
{
	int got = 0;

	if (t->of & TEST_OF_KSTACK)
		got = stack_passes(ts, t, stk_event__kstack(e));
	if (!got && t->of & TEST_OF_USTACK)
		got = stack_passes(ts, t, stk_event__ustack(e));
	return got;
}

static int event_passes(struct filter_tests *ts, struct one_test *t,
			const struct stk_event_type *type)
{
	uint8_t *a;
	int err = answer_of(ts, t, stk_event_type__index(type), &a);

	if (err || *a != UNKNOWN)
		return err ?: *a == YES;
	return remember(a, test_event(ts, t, type));
}

/* The number of a name of an event's innermost frames; 0: it has no such frame. */
static int frame_name(struct filter_tests *ts, enum stack_name which, const struct stk_event *e,
		      uint32_t *ret_number)
{
	struct value_frames frames = { 0 };
	uint64_t memory;
	int err = 0;

	if (ts->opts) {
		frames.function = ts->opts->function;
		frames.ctx = ts->opts->ctx;
	}
	if (!ts->names)
		err = stack_names__new(ts->r, &frames, &ts->names);
	err = err   ?:
		      stack_names__find(ts->names, stk_event__kstack(e), stk_event__ustack(e),
					which, ret_number);
	if (err)
		return err;
	memory = stack_names__memory(ts->names);
	if (memory > ts->names_memory)
		err = stk_reader__charge(ts->r, memory - ts->names_memory, WORK_FRAME);
	ts->names_memory = memory;
	return err;
}

static int name_passes(struct filter_tests *ts, struct one_test *t, enum stack_name which,
		       const struct stk_event *e)
{
	uint32_t number = 0;
	uint8_t *a;
	int err = frame_name(ts, which, e, &number);

	if (err || !number)
		return err;
	err = answer_of(ts, t, number, &a);
	if (err || *a != UNKNOWN)
		return err ?: *a == YES;
	return remember(a, test_name(ts, t, stack_names__text(ts->names, number)));
}

/* "name" or "module:name". */
static bool is_function(const struct stk_frame *f, const char *name)
{
	size_t len = f->mod ? strlen(f->mod) : 0;

	return f->sym &&
	       (!strcmp(f->sym, name) || (len && !strncmp(name, f->mod, len) && name[len] == ':' &&
					  !strcmp(name + len + 1, f->sym)));
}

static bool test_address(struct filter_tests *ts, const struct one_test *t, uint64_t addr)
{
	struct stk_frame f = { 0 }, wanted = { 0 };

	if (stk_reader__kernel_symbol(ts->r, addr, &f) || !f.sym)
		return false;
	if (t->function.name)
		return is_function(&f, t->function.name);
	return !stk_reader__kernel_symbol(ts->r, t->function.addr, &wanted) && wanted.sym &&
	       addr - f.off == t->function.addr - wanted.off;
}

static int copy_passes(struct filter_tests *ts, const struct one_test *t, const struct stk_event *e)
{
	size_t len, off, size;
	const char *rec;
	uint32_t where;

	rec = stk_event__record(e, &len);
	if (!rec || len < sizeof(where) || t->offset > len - sizeof(where))
		return 0;
	memcpy(&where, rec + t->offset, sizeof(where));
	off = where & 0xffff;
	size = where >> 16;
	if (!size || off > len || size > len - off)
		return 0;
	return test_text(ts, t, rec + off, strnlen(rec + off, MIN(size, (size_t)MAX_NAME)));
}

static bool function_passes(struct filter_tests *ts, struct one_test *t, const struct stk_event *e)
{
	const char *rec;
	uint64_t addr;
	size_t len;

	rec = stk_event__record(e, &len);
	if (!rec || len < sizeof(addr) || t->offset > len - sizeof(addr))
		return false;
	memcpy(&addr, rec + t->offset, sizeof(addr));
	/* In another kernel another function may be at the address. */
	if (t->function.answer == UNKNOWN || t->function.last != addr ||
	    stk_reader__nr_boots(ts->r) > 1) {
		t->function.last = addr;
		t->function.answer = test_address(ts, t, addr) ? YES : NO;
	}
	return t->function.answer == YES;
}

static int passes(struct filter_tests *ts, struct one_test *t, const struct stk_event *e)
{
	switch (t->of) {
	case TEST_OF_FUNCTION:
		return function_passes(ts, t, e);
	case TEST_OF_COPY:
		return copy_passes(ts, t, e);
	case TEST_OF_COMM:
		return test_name(ts, t, stk_event__comm(e));
	case TEST_OF_HOST:
		return test_name(ts, t, stk_event__host(e));
	case TEST_OF_EVENT:
		return event_passes(ts, t, stk_event__type(e));
	case TEST_OF_SYM:
		return name_passes(ts, t, STACK_NAME_SYM, e);
	case TEST_OF_CALLER:
		return name_passes(ts, t, STACK_NAME_CALLER, e);
	case TEST_OF_FILE:
		return name_passes(ts, t, STACK_NAME_FILE, e);
	case TEST_OF_KSTACK:
	case TEST_OF_USTACK:
	case TEST_OF_STACKS:
		return stacks_pass(ts, t, e);
	}
	return 0;
}

int filter_tests__run(struct filter_tests *ts, const struct stk_event *e, uint64_t *ret_bits)
{
	unsigned int i;

	for (i = 0; i < ts->nr; i++) {
		uint64_t bit = 1ULL << i % 64;
		int got = passes(ts, &ts->v[i], e);

		if (got < 0)
			return got;
		if (got)
			ret_bits[i / 64] |= bit;
		else
			ret_bits[i / 64] &= ~bit;
	}
	return 0;
}

bool filter_tests__user_names(const struct filter_tests *ts)
{
	unsigned int i;

	for (i = 0; i < ts->nr; i++)
		if (ts->v[i].is_text &&
		    ts->v[i].of & (TEST_OF_USTACK | TEST_OF_SYM | TEST_OF_CALLER))
			return true;
	return false;
}
