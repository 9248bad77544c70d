// SPDX-License-Identifier: GPL-2.0-only
/*
 * SQL functions:
 *
 *   stack(ID)            the functions of a stack, innermost first: "a < b < c"
 *   stack_key(ID)        the key of a stack, the same in all recordings
 *   stack_has(ID, GLOB)  1 if a function of the stack matches, else 0
 *   sym(ADDRESS)         "symbol+0x12/0x34 [module]" of a kernel address
 *   hex(X)               a number as 0x...; anything else as SQLite's own hex()
 *   ucmp(A, B)           -1, 0 or 1: compares all 64 bits of two numbers without a sign
 *   percentile(X, P)     aggregate: the P-th percentile of X, P from 0 to 100
 */
#include "functions.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/durations.h"
#include "cleanup.h"
#include "log.h"
#include "query/stack_key.h"
#include "ui/frames.h"

static struct sql_recording *recording_of(sqlite3_context *x)
{
	return sqlite3_user_data(x);
}

static bool is_null(sqlite3_value *v)
{
	return sqlite3_value_type(v) == SQLITE_NULL;
}

/* A text that is a number counts as one, as elsewhere in SQLite. */
static bool is_number(sqlite3_value *v)
{
	int type = sqlite3_value_numeric_type(v);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static void put_buffer(sqlite3_context *x, const struct strbuf *b)
{
	if (strbuf__failed(b))
		sqlite3_result_error_nomem(x);
	else
		sqlite3_result_text(x, b->s ?: "", b->len, SQLITE_TRANSIENT);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void put_error(sqlite3_context *x, int err)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	if (err == -ENOBUFS)
		strbuf__printf(&b, SQL_OVER_BUDGET, recording_of(x)->path);
	if (!b.len) {
		sqlite3_result_error_nomem(x);
		return;
	}
	sqlite3_result_error(x, b.s, -1);
	sqlite3_result_error_code(x, SQLITE_CORRUPT);
}

static int put_functions(struct sql_recording *rec, uint32_t number, struct strbuf *b)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int nr = stack__frames(rec->reader, number, frames), i;

	strbuf__puts(b, "");
	for (i = 0; i < nr; i++) {
		strbuf__puts(b, i ? " < " : "");
		frame__function(rec->names, b, &frames[i]);
	}
	return stk_reader__charge(rec->reader, 0, nr);
}

static int put_key(struct sql_recording *rec, uint32_t number, struct strbuf *b)
{
	struct stack_keys keys;
	struct stack_key key;
	struct stk_stack s;
	int err = stk_reader__stack(rec->reader, number, &s);

	stack_keys__init(&keys, rec->reader);
	err = err ?: stk_reader__charge(rec->reader, 0, s.depth * (uint64_t)STACK_KEY_WORK);
	err = err ?: stack_key__of_stack(&keys, number, &key);
	for (size_t i = 0; i < sizeof(key.v) && !err; i++)
		strbuf__hex(b, key.v[i], 2);
	return err;
}

/* A text is charged to the budget of the recording, and made once. */
static int text_of(struct sql_recording *rec, enum sql_stack_text which, uint32_t number,
		   const char **ret_text)
{
	struct sql_stack_texts *t = &rec->texts[which];
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	int err = 0;

	if (number >= t->nr || !t->v[number]) {
		err = which == STACK_KEY ? put_key(rec, number, &b) :
					   put_functions(rec, number, &b);
		err = err ?: strbuf__failed(&b) ? -ENOMEM : 0;
		err = err ?: stk_reader__charge(rec->reader, b.cap + sizeof(*t->v), 0);
		if (!err && array__reach(&t->v, number, &t->nr))
			err = -ENOMEM;
		if (err)
			return err;
		t->v[number] = take_ptr(b.s);
	}
	*ret_text = t->v[number];
	return 0;
}

static void put_text(sqlite3_context *x, enum sql_stack_text which, sqlite3_value *id)
{
	struct sql_recording *rec = recording_of(x);
	const char *text;
	uint32_t number;
	int err;

	if (is_null(id))
		return;
	number = sql_recording__stack_number(rec, sqlite3_value_int64(id));
	if (!number)
		return;
	err = text_of(rec, which, number, &text);
	if (err)
		put_error(x, err);
	else
		sqlite3_result_text(x, text, -1, SQLITE_STATIC);
}

static void put_stack(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	put_text(x, STACK_FUNCTIONS, argv[0]);
}

static void put_stack_key(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	put_text(x, STACK_KEY, argv[0]);
}

/* Whether stacks match a glob, by stack number: 0 unknown, 1 no, 2 yes. */
struct glob_answers {
	uint32_t nr;
	uint8_t v[];
};

static bool has_function(const struct sql_recording *rec, uint32_t number, const char *glob)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	unsigned int nr = stack__frames(rec->reader, number, frames), i;

	for (i = 0; i < nr; i++)
		if (frames[i].sym &&
		    !sqlite3_strglob(glob, user_names__function(rec->names, frames[i].sym)))
			return true;
	return false;
}

/* SQLite keeps the answers as long as the glob is the same constant. */
static struct glob_answers *answers_of(sqlite3_context *x)
{
	uint32_t nr = stk_reader__nr_stacks(recording_of(x)->reader) + 1;
	struct glob_answers *a = sqlite3_get_auxdata(x, 1);

	if (a)
		return a;
	a = calloc(1, sizeof(*a) + nr);
	if (!a)
		return NULL;
	a->nr = nr;
	sqlite3_set_auxdata(x, 1, a, free);
	return sqlite3_get_auxdata(x, 1); /* NULL if SQLite did not keep it */
}

static void put_stack_has(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	const struct sql_recording *rec = recording_of(x);
	const char *glob = (const char *)sqlite3_value_text(argv[1]);
	struct glob_answers *a = answers_of(x);
	uint32_t number;
	bool has;

	if (is_null(argv[0]) || !glob)
		return;
	number = sql_recording__stack_number(rec, sqlite3_value_int64(argv[0]));
	if (!number)
		return;
	if (a && number < a->nr && a->v[number]) {
		sqlite3_result_int(x, a->v[number] - 1);
		return;
	}
	has = has_function(rec, number, glob);
	if (a && number < a->nr)
		a->v[number] = 1 + has;
	sqlite3_result_int(x, has);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_sym(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };
	struct stk_frame f;

	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER ||
	    stk_reader__kernel_symbol(recording_of(x)->reader, sqlite3_value_int64(argv[0]), &f) ||
	    !f.sym)
		return;
	frame__text(recording_of(x)->names, &b, &f);
	put_buffer(x, &b);
}

static void put_bytes_hex(sqlite3_context *x, const uint8_t *p, size_t n)
{
	_cleanup_(strbuf__free) struct strbuf b = { 0 };

	while (n--)
		strbuf__printf(&b, "%02X", *p++);
	put_buffer(x, &b);
}

static void put_hex(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	const uint8_t *bytes;
	char text[24];

	if (is_null(argv[0]))
		return;
	if (sqlite3_value_type(argv[0]) == SQLITE_INTEGER) {
		snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)sqlite3_value_int64(argv[0]));
		sqlite3_result_text(x, text, -1, SQLITE_TRANSIENT);
		return;
	}
	bytes = sqlite3_value_blob(argv[0]);
	put_bytes_hex(x, bytes, sqlite3_value_bytes(argv[0]));
}

static void put_ucmp(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	uint64_t a = sqlite3_value_int64(argv[0]), b = sqlite3_value_int64(argv[1]);

	if (!is_null(argv[0]) && !is_null(argv[1]))
		sqlite3_result_int(x, CMP(a, b));
}

/* ---- percentiles ----------------------------------------------------------------------------- */

struct percentile {
	struct durations values;
	uint64_t charged; /* bytes */
	double p;
	bool failed; /* an error was reported */
};

/* why NULL: err says it. */
static void fail(sqlite3_context *x, struct percentile *p, int err, const char *why)
{
	p->failed = true;
	durations__clear(&p->values);
	if (why)
		sqlite3_result_error(x, why, -1);
	else
		put_error(x, err);
}

/* Values are kept up to a limit and then counted, so that memory grows with groups only. */
static int charge_values(struct sql_recording *rec, struct percentile *p)
{
	uint64_t memory = durations__memory(&p->values);

	if (memory == p->charged)
		return 0;
	if (stk_reader__charge(rec->reader, (int64_t)(memory - p->charged), 0))
		return -ENOBUFS;
	p->charged = memory;
	return 0;
}

/* Not in SQLite's memory: that is aligned to 8 bytes, and the sum of durations has 16. */
static struct percentile *percentile_of(sqlite3_context *x)
{
	struct percentile **p = sqlite3_aggregate_context(x, sizeof(*p));

	if (p && !*p)
		*p = calloc(1, sizeof(**p));
	return p ? *p : NULL;
}

static void percentile_step(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	struct percentile *p = percentile_of(x);
	int64_t v = sqlite3_value_int64(argv[0]);
	int err;

	if (!p)
		sqlite3_result_error_nomem(x);
	if (!p || p->failed || is_null(argv[0]))
		return;
	p->p = sqlite3_value_double(argv[1]);
	if (!is_number(argv[1]) || !(p->p >= 0 && p->p <= 100)) {
		fail(x, p, 0, "percentile(X, P): P is a number from 0 to 100");
		return;
	}
	if (sqlite3_value_type(argv[0]) != SQLITE_INTEGER || v < 0) {
		fail(x, p, 0,
		     "percentile(X, P): X is an integer that is not negative, such as a "
		     "duration or a size");
		return;
	}
	err = durations__add(&p->values, v) ?: charge_values(recording_of(x), p);
	if (err)
		fail(x, p, err, NULL);
}

static void percentile_final(sqlite3_context *x)
{
	struct percentile **context = sqlite3_aggregate_context(x, 0);
	struct percentile *p = context ? *context : NULL;

	if (!p)
		return;
	if (!p->failed && p->values.count)
		sqlite3_result_int64(x, durations__percentile(&p->values, lround(p->p * 10)));
	durations__clear(&p->values);
	stk_reader__charge(recording_of(x)->reader, -(int64_t)p->charged, 0);
	free(p);
}

int sql_functions__register(sqlite3 *db, struct sql_recording *rec)
{
	static const struct {
		const char *name;
		int nr_args;
		void (*call)(sqlite3_context *x, int argc, sqlite3_value **argv);
	} functions[] = {
		{ "stack", 1, put_stack },
		{ "stack_key", 1, put_stack_key },
		{ "stack_has", 2, put_stack_has },
		{ "sym", 1, put_sym },
		{ "hex", 1, put_hex },
		{ "ucmp", 2, put_ucmp },
	};
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_SIZE(functions) && !rc; i++)
		rc = sqlite3_create_function_v2(db, functions[i].name, functions[i].nr_args, flags,
						rec, functions[i].call, NULL, NULL, NULL);
	if (!rc)
		rc = sqlite3_create_function_v2(db, "percentile", 2, flags, rec, NULL,
						percentile_step, percentile_final, NULL);
	return rc ? log_err(-ENOMEM, "set up SQLite") : 0;
}
