/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for ClickHouse.
 *
 *   clickhouse.c         what is written: one of the tables, their names or the schema
 *   clickhouse_text.c    values as text
 *   clickhouse_read.c    recordings one after another, their events
 *   clickhouse_tables.c  the tables that every recording has
 *   clickhouse_events.c  the tables of event types
 */
#ifndef EXPORT_CLICKHOUSE_PRIV_H
#define EXPORT_CLICKHOUSE_PRIV_H

#include <stdint.h>

#include "output/output.h"
#include "query/stack_key.h"
#include "source.h"
#include "strbuf.h"

#define UUID_TEXT 36

/* Functions that fail have logged why, unless they return -ENOMEM or -ENOBUFS. */

struct ch_column {
	const char *name, *type, *codec;
};

struct ch_export;

/* A table that every recording has.  Its engine keeps one row of those with the same key. */
struct ch_table {
	const char *name;
	const struct ch_column *columns; /* NULL name ends */
	const char *version; /* column: the row with the largest value stays; "": the last one */
	const char *order; /* the key */
	int (*put)(struct ch_export *c); /* writes the rows of the recording */
	/* Whether there is any, once all of the recording has been read. */
	bool (*has_rows)(const struct ch_export *c);
};
#define CH_NR_TABLES 6

extern const struct ch_table ch_tables[CH_NR_TABLES];
extern const struct ch_column ch_event_columns[]; /* of every event; NULL name ends */

struct ch_export {
	const struct export_source *src;
	struct output *output;
	const char *path; /* of it */
	struct strbuf b;
	uint64_t nr_rows;
	char *table; /* of an event type, not escaped; NULL: events of all types are read */
	struct strbuf insert; /* the statement before its rows; empty: no row yet */
	int damage; /* of a recording: -EBADMSG; what is before it is exported */
	/* of the recording */
	char recording[UUID_TEXT + 1];
	const char *host;
	int64_t to_wall; /* from the recording's clock to ns since 1970 */
	struct stack_keys keys;
	const struct stk_event *first; /* read to get what is before it, and not returned yet */
	bool is_empty;
	bool has_stacks, has_frames; /* of its events so far, with --tables */
};

/* ---- clickhouse_text.c ---- */
/* Untrusted text: control bytes and bytes that are not UTF-8 as \xNN, a backslash before quote. */
void ch_put_escaped(struct strbuf *b, const char *s, size_t len, char quote);
void ch_put_text(struct strbuf *b, const char *s);
/* What ch_put_text() wrote as s, owned by the caller; NULL: out of memory. */
char *ch_unescaped(const char *s);
void ch_put_name(struct strbuf *b, const char *name); /* an identifier, in backquotes */
void ch_put_time(struct strbuf *b, uint64_t wall_ns); /* 2026-01-02 03:04:05 */
void ch_uuid(const uint8_t v[16], char ret_text[UUID_TEXT + 1]);
void ch_put_key(struct strbuf *b, const struct stack_key *key);
/* The column before ends here; the row does. */
static inline void ch_tab(struct strbuf *b)
{
	strbuf__putc(b, '\t');
}
int ch_end_row(struct ch_export *c);
/* Write what is in c->b. */
int ch_flush(struct ch_export *c);
int ch_drain(struct ch_export *c);

/* ---- clickhouse_read.c ---- */
/* Opens the recording that c->src has: what is before its first event is known then. */
int ch_begin_recording(struct ch_export *c);
/* The next selected event: 1, or 0 at the end or where the recording is damaged. */
int ch_next(struct ch_export *c, const struct stk_event **ret_event);
/* Before the keys of a stack and its frames are made. */
int ch_charge_keys(const struct ch_export *c, uint32_t stack);
uint64_t ch_wall_ns(const struct ch_export *c, uint64_t ts);

/* ---- clickhouse_tables.c ---- */
/* "INSERT INTO ..." with these columns, before the rows. */
void ch_put_insert(struct strbuf *b, const char *table, const struct ch_column *columns);

/* ---- clickhouse_events.c ---- */
/* The name of the table of an event type, owned by the caller; NULL: out of memory. */
char *ch_table_of(const struct stk_event_type *t);
/* CREATE TABLE, and ALTER TABLE for one that was made from another kernel's fields. */
int ch_put_type(struct strbuf *b, const struct stk_event_type *t);
bool ch_is_of_table(const struct stk_event_type *t, const char *table);
/* The rows of the event types with c->table, and before the first one the statement. */
int ch_put_events(struct ch_export *c);

#endif /* EXPORT_CLICKHOUSE_PRIV_H */
