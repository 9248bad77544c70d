// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots of the recording, and scans of its events. */
#include "recording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cleanup.h"
#include "events/format.h"
#include "log.h"
#include "seeded_hash.h"
#include "text.h"
#include "ui/ui.h"
#include "names/user_names.h"

static void stk_reader__freep(struct stk_reader **r)
{
	stk_reader__free(*r);
}

int sql_error(sqlite3_vtab *vt, int code, const char *fmt, ...)
{
	va_list ap;

	sqlite3_free(vt->zErrMsg);
	va_start(ap, fmt);
	vt->zErrMsg = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	return code;
}

int sql_table__declare(sqlite3 *db, const char *columns)
{
	char *text = sqlite3_mprintf("CREATE TABLE x(%s)", columns);
	int rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;

	sqlite3_free(text);
	return rc ?: sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

int sql_recording__check_stop(const struct sql_recording *rec)
{
	struct timespec now;

	if (rec->stop && *rec->stop)
		return SQLITE_INTERRUPT;
	if (!rec->deadline)
		return SQLITE_OK;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec > rec->deadline ? SQLITE_INTERRUPT :
									  SQLITE_OK;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

static int open_reader(const struct sql_recording *rec, unsigned int want, bool logs,
		       struct stk_reader **ret_reader)
{
	const struct stk_reader_opts opts = {
		.size = sizeof(opts),
		.want = want,
		.log = logs ? ui__log : NULL,
		.end = rec->end,
	};

	return stk_reader__open(rec->path, &opts, ret_reader);
}

static bool has_generated_code(const struct stk_reader *r)
{
	struct stk_file file;
	uint32_t i;

	for (i = 1; i <= stk_reader__nr_files(r); i++)
		if (!stk_reader__file(r, i, &file) && file.kind == STK_FILE_JIT)
			return true;
	return false;
}

static int by_id(const void *a, const void *b)
{
	const struct sql_stack_id *x = a, *y = b;

	return CMP(x->id, y->id) ?: CMP(x->number, y->number);
}

/* An import keeps the ids of its stack map. */
static int take_ids(struct sql_recording *rec, const struct stk_reader *r)
{
	uint32_t nr = stk_reader__nr_stacks(r), i;
	struct stk_stack st;

	free(rec->ids);
	rec->ids = calloc(nr ?: 1, sizeof(*rec->ids));
	if (!rec->ids)
		return -ENOMEM;
	rec->ids_are_numbers = true;
	for (i = 1; i <= nr; i++) {
		uint32_t id = stk_reader__stack(r, i, &st) ? 0 : st.id;

		rec->ids[i - 1] = (struct sql_stack_id){ id, i };
		rec->ids_are_numbers &= id == i;
	}
	if (!rec->ids_are_numbers)
		qsort(rec->ids, nr, sizeof(*rec->ids), by_id);
	return 0;
}

static void clear_stack_texts(struct sql_recording *rec)
{
	for (unsigned int which = 0; which < NR_STACK_TEXTS; which++) {
		struct sql_stack_texts *t = &rec->texts[which];

		for (unsigned int i = 0; i < t->nr; i++)
			free(t->v[i]);
		free(t->v);
		*t = (struct sql_stack_texts){ 0 };
	}
}

/* SQLite's names have no case. */
static int is_repeated(struct string_table *lower_names, const char *name, bool *ret_is)
{
	_cleanup_free_ char *lower = strdup(name);
	uint32_t number;
	char *c;
	int got;

	if (!lower)
		return -ENOMEM;
	for (c = lower; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	got = string_table__number(lower_names, lower, strlen(lower), UINT32_MAX, &number);
	*ret_is = !got;
	return got < 0 ? got : 0;
}

static int take_types(struct sql_recording *rec, const struct stk_reader *r)
{
	unsigned int nr = stk_reader__nr_types(r);

	while (rec->nr_types < nr) {
		const struct stk_event_type *t = stk_reader__type(r, rec->nr_types);
		struct sql_type type = { 0 };

		if (asprintf(&type.full_name, "%s:%s", stk_event_type__system(t),
			     stk_event_type__name(t)) < 0)
			return -ENOMEM;
		if (is_repeated(&rec->lower_names, type.full_name, &type.is_repeated) ||
		    array__append(&rec->types, &rec->nr_types, type)) {
			free(type.full_name);
			return -ENOMEM;
		}
	}
	return 0;
}

int sql_recording__format(struct sql_recording *rec, unsigned int type,
			  const struct ev_format **ret_format)
{
	const char *text = stk_event_type__format(stk_reader__type(rec->reader, type));
	struct sql_type *t = &rec->types[type];
	int err = 0;

	if (!t->is_parsed && *text)
		err = ev_format__parse(text, strlen(text), &t->format);
	if (err == -ENOMEM)
		return err;
	if (err)
		t->format = NULL;
	t->is_parsed = true;
	*ret_format = t->format;
	return 0;
}

static int take_losses(struct sql_recording *rec, struct stk_reader *r)
{
	_cleanup_free_ struct stk_loss *losses = NULL;
	unsigned int nr = 0;
	struct stk_loss loss;
	int n;

	while ((n = stk_reader__next_loss(r, UINT64_MAX, &loss)) > 0)
		if (array__append(&losses, &nr, loss))
			return -ENOMEM;
	if (n < 0)
		return n;
	free(rec->losses);
	rec->losses = take_ptr(losses);
	rec->nr_losses = nr;
	return 0;
}

/* Reads all tables.  Where code was replaced, stacks are numbered as events are read. */
static int read_tables(struct sql_recording *rec, struct stk_reader **ret_reader)
{
	_cleanup_(stk_reader__freep) struct stk_reader *r = NULL;
	const struct stk_event *e;
	struct stk_totals totals;
	int err = open_reader(rec, STK_WANT_FIELDS, true, &r);

	/* the reader logs every other failure */
	if (err == -ENOMEM)
		log_err(err, "read '%s'", rec->path);
	if (err)
		return err;
	while ((err = stk_reader__next(r, &e)) > 0)
		;
	rec->has_variants = has_generated_code(r);
	if (!err && rec->has_variants) {
		stk_reader__free(take_ptr(r));
		err = open_reader(rec, STK_WANT_EVENTS, true, &r);
		while (!err && (err = stk_reader__next(r, &e)) > 0) {
			stk_event__ustack(e);
			err = 0;
		}
	}
	if (!r)
		return err;
	stk_reader__totals(r, &totals);
	rec->damaged |= totals.bad_blocks || err;
	err = err ?: totals.bad_blocks ? -EBADMSG : 0;
	if (err && !(rec->partial && err == -EBADMSG))
		return log_err(err == -EBADMSG ? 0 : err,
			       "'%s' is damaged: it cannot be read to its end; --partial answers "
			       "from what can be read",
			       rec->path) ?: err;
	*ret_reader = take_ptr(r);
	return 0;
}

static int check_file(struct sql_recording *rec, struct stat *ret_st)
{
	if (stat(rec->path, ret_st))
		return log_err(-errno, "open '%s'", rec->path);
	if (!S_ISREG(ret_st->st_mode))
		return log_why(-EINVAL,
			       "'%s' is not a file: queries read a recording several "
			       "times",
			       rec->path);
	if (rec->reader && (ret_st->st_dev != rec->dev || ret_st->st_ino != rec->ino ||
			    (uint64_t)ret_st->st_size < rec->end))
		return log_why(-ESTALE, "'%s' is another file than before: start again", rec->path);
	return 0;
}

/* Losses point into the reader: they come last. */
static int take_tables(struct sql_recording *rec, struct stk_reader *r)
{
	int err = take_types(rec, r) ?: take_ids(rec, r) ?: take_losses(rec, r);

	return err ? log_err(err, "read '%s'", rec->path) : 0;
}

int sql_recording__refresh(struct sql_recording *rec)
{
	_cleanup_(stk_reader__freep) struct stk_reader *r = NULL;
	uint64_t was = rec->end;
	struct stat st;
	int err = check_file(rec, &st);

	if (err || (rec->reader && (uint64_t)st.st_size == rec->end))
		return err;
	rec->seed = rec->seed ?: seeded_hash__seed();
	rec->dev = st.st_dev;
	rec->ino = st.st_ino;
	rec->end = st.st_size;
	err = read_tables(rec, &r) ?: take_tables(rec, r);
	if (err) {
		rec->end = was;
		return err;
	}
	clear_stack_texts(rec); /* a new stack may have the number of another one */
	stk_reader__free(rec->reader);
	rec->reader = take_ptr(r);
	user_names__start(rec->names, rec->reader);
	return 0;
}

void sql_recording__clear(struct sql_recording *rec)
{
	unsigned int i;

	for (i = 0; i < rec->nr_types; i++) {
		ev_format__free(rec->types[i].format);
		free(rec->types[i].full_name);
	}
	free(rec->types);
	free(rec->losses);
	free(rec->ids);
	clear_stack_texts(rec);
	string_table__clear(&rec->comms);
	string_table__clear(&rec->lower_names);
	stk_reader__free(rec->reader);
	*rec = (struct sql_recording){ 0 };
}

/* ---- stacks ---------------------------------------------------------------------------------- */

uint32_t sql_recording__stack_id(const struct sql_recording *rec, uint32_t number)
{
	struct stk_stack st;

	if (rec->ids_are_numbers)
		return number;
	return stk_reader__stack(rec->reader, number, &st) ? 0 : st.id;
}

/* The first of rec->ids with the id, from 1; 0: none. */
static uint32_t rank_of(const struct sql_recording *rec, uint32_t id)
{
	uint32_t nr = stk_reader__nr_stacks(rec->reader);
	size_t i = array__bisect(nr, k, rec->ids[k].id < id);

	return i < nr && rec->ids[i].id == id ? i + 1 : 0;
}

uint32_t sql_recording__stack_number(const struct sql_recording *rec, int64_t id)
{
	uint32_t rank;

	if (id < 0 || id > UINT32_MAX)
		return 0;
	if (rec->ids_are_numbers)
		return id <= stk_reader__nr_stacks(rec->reader) ? id : 0;
	rank = rank_of(rec, id);
	return rank ? rec->ids[rank - 1].number : 0;
}

uint32_t sql_recording__stack_rank(const struct sql_recording *rec, uint32_t number)
{
	if (!number || rec->ids_are_numbers)
		return number;
	return rank_of(rec, sql_recording__stack_id(rec, number));
}

uint32_t sql_recording__rank_id(const struct sql_recording *rec, uint32_t rank)
{
	return rec->ids_are_numbers ? rank : rec->ids[rank - 1].id;
}

/* ---- scans ----------------------------------------------------------------------------------- */

int sql_scan__open(struct sql_scan *s, struct sql_recording *rec, unsigned int want,
		   sqlite3_vtab *vt)
{
	int err;

	sql_scan__close(s);
	*s = (struct sql_scan){ .rec = rec };
	if (rec->nr_scans == MAX_SCANS)
		return sql_error(vt, SQLITE_ERROR,
				 "a query can read the events in at most %d places at the same "
				 "time: --save writes tables for more",
				 MAX_SCANS);
	err = open_reader(rec, want, false, &s->reader);
	if (err)
		return sql_error(vt, SQLITE_CANTOPEN, "open '%s': %s", rec->path, strerror(-err));
	rec->nr_scans++;
	return SQLITE_OK;
}

static int at_end(const struct sql_scan *s, sqlite3_vtab *vt, int err)
{
	struct stk_totals t;

	stk_reader__totals(s->reader, &t);
	s->rec->damaged |= t.bad_blocks || err;
	if (err == -ENOBUFS)
		return sql_error(vt, SQLITE_CORRUPT, SQL_OVER_BUDGET, s->rec->path);
	if (s->rec->partial)
		return SQLITE_DONE;
	if (err)
		return sql_error(vt, SQLITE_CORRUPT,
				 "'%s' is damaged: the rest cannot be read; --partial answers "
				 "from what can be read",
				 s->rec->path);
	if (t.bad_blocks)
		return sql_error(vt, SQLITE_CORRUPT,
				 "'%s' is damaged: %s cannot be read; --partial answers "
				 "without them",
				 s->rec->path, text__count(t.bad_blocks, "block").s);
	return SQLITE_DONE;
}

/* ret_count NULL: events one by one. */
static int next(struct sql_scan *s, sqlite3_vtab *vt, const struct stk_event **ret_event,
		uint64_t *ret_count)
{
	int got;

	if (!(++s->nr % STOP_EVENTS) && sql_recording__check_stop(s->rec))
		return SQLITE_INTERRUPT;
	got = ret_count ? stk_reader__next_counted(s->reader, ret_event, ret_count) :
			  stk_reader__next(s->reader, ret_event);
	if (s->stopped)
		return SQLITE_INTERRUPT;
	if (got <= 0)
		return at_end(s, vt, got);
	if (stk_event_type__index(stk_event__type(*ret_event)) >= s->rec->nr_types)
		return sql_error(vt, SQLITE_CORRUPT, "'%s' is another file than before",
				 s->rec->path);
	if (s->rec->has_variants)
		stk_event__ustack(*ret_event);
	return SQLITE_ROW;
}

int sql_scan__next(struct sql_scan *s, sqlite3_vtab *vt, const struct stk_event **ret_event)
{
	return next(s, vt, ret_event, NULL);
}

int sql_scan__next_counted(struct sql_scan *s, sqlite3_vtab *vt, const struct stk_event **ret_event,
			   uint64_t *ret_count)
{
	*ret_count = 1;
	return next(s, vt, ret_event, s->rec->has_variants ? NULL : ret_count);
}

int sql_scan__comm(struct sql_scan *s, const struct stk_event *e, uint32_t *ret_number)
{
	const char *comm = stk_event__comm(e);
	unsigned int at = (uint32_t)((uintptr_t)comm >> 3) * 0x9e3779b1u >> 23;

	if (s->comms[at].comm != comm) {
		if (string_table__intern(&s->rec->comms, comm, &s->comms[at].number))
			return -ENOMEM;
		s->comms[at].comm = comm;
	}
	*ret_number = s->comms[at].number;
	return 0;
}

void sql_scan__close(struct sql_scan *s)
{
	if (!s->reader)
		return;
	s->rec->nr_scans--;
	stk_reader__free(s->reader);
	s->reader = NULL;
}
