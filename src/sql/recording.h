/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recording behind the tables.  A statement sees one snapshot of it: the file up to an end that
 * is fixed when the statement begins.  Stacks, symbols and files are those of one reader; each scan
 * of the events has a reader of its own, in which everything has the same numbers.
 */
#ifndef SQL_RECORDING_H
#define SQL_RECORDING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "array.h"
#include "sqlite.h"
#include "stackonce.h"
#include "string_table.h"

struct ev_format;
struct user_names;

struct sql_type {
	char *full_name; /* "system:name" */
	bool is_repeated; /* SQLite takes the name for that of an earlier type */
	bool is_parsed;
	struct ev_format *format; /* once it is parsed; NULL: unparsable */
};

struct sql_stack_id {
	uint32_t id, number;
};

/* What functions.c makes of a stack, once. */
enum sql_stack_text { STACK_FUNCTIONS, STACK_KEY, NR_STACK_TEXTS };

struct sql_stack_texts {
	char **v; /* by stack number; NULL: not made yet */
	unsigned int nr;
};

#define SQL_OVER_BUDGET                                                                           \
	"'%s' asks for more memory or work than a recording of its size can need: it is damaged " \
	"or malicious"

struct sql_recording {
	const char *path; /* borrowed */
	struct user_names *names; /* borrowed */
	bool partial; /* answers from what can be read of a damaged recording */
	const volatile sig_atomic_t *stop; /* ends a statement; NULL: never */
	uint64_t deadline; /* CLOCK_MONOTONIC ns at which the statement ends; 0: none */

	dev_t dev;
	ino_t ino;
	uint64_t end; /* bytes of the snapshot */
	struct stk_reader *reader; /* at its end: has all tables */
	struct sql_type *types; /* by index; only ever appended */
	unsigned int nr_types;
	unsigned int nr_tables; /* of these, that are tables of the connection */
	struct string_table lower_names; /* of the types */
	struct stk_loss *losses; /* their types are those of the reader */
	unsigned int nr_losses;
	struct string_table comms; /* names of tasks, which live as long as the connection */
	bool ids_are_numbers; /* stack ids are stack numbers */
	struct sql_stack_id *ids; /* otherwise: by id, then number */
	struct sql_stack_texts texts[NR_STACK_TEXTS];
	bool has_variants; /* stack numbers depend on the events read, see stk_event__ustack() */
	bool damaged; /* a part could not be read */
	uint64_t seed; /* of rowids: the same in all scans */
	unsigned int nr_scans; /* that are open */
};

/* Takes the first snapshot, or a new one if the file has grown.  Negative errno, logged. */
int sql_recording__refresh(struct sql_recording *rec);
void sql_recording__clear(struct sql_recording *rec);

/* Declares the columns of a table, and that it is harmless: an SQLite code. */
int sql_table__declare(sqlite3 *db, const char *columns);
/*
 * The format of a type, parsed when it is needed: a recording may have thousands.  NULL: it has
 * none.  -ENOMEM.
 */
int sql_recording__format(struct sql_recording *rec, unsigned int type,
			  const struct ev_format **ret_format);
/* Whether the statement has to end: SQLITE_OK or SQLITE_INTERRUPT. */
int sql_recording__check_stop(const struct sql_recording *rec);
/* The id that people see; an import may have 0.  number: not 0. */
uint32_t sql_recording__stack_id(const struct sql_recording *rec, uint32_t number);
/* The number of the first stack with the id; 0: none. */
uint32_t sql_recording__stack_number(const struct sql_recording *rec, int64_t id);
/* What stands for the id, ordered as ids are; 0 if number is 0. */
uint32_t sql_recording__stack_rank(const struct sql_recording *rec, uint32_t number);
uint32_t sql_recording__rank_id(const struct sql_recording *rec, uint32_t rank);

/* ---- scans ----------------------------------------------------------------------------------- */

#define MAX_SCANS 8 /* open at a time: each has a reader, with a budget of its own */
#define SCAN_COMMS 512
#define STOP_EVENTS 1024 /* between two checks whether to stop */

struct sql_where;

struct sql_scan {
	struct sql_recording *rec;
	struct stk_reader *reader; /* NULL: not open */
	struct sql_where *where; /* what the reader leaves out; NULL: nothing */
	uint64_t asked; /* how often the reader asked */
	bool stopped;
	uint64_t nr; /* events read */
	struct {
		const char *comm; /* the same name has the same address in a reader */
		uint32_t number;
	} comms[SCAN_COMMS];
};

/* vt gets the message of an error. */
int sql_scan__open(struct sql_scan *s, struct sql_recording *rec, unsigned int want,
		   sqlite3_vtab *vt);
/* SQLITE_ROW and the next event, SQLITE_DONE, or an error. */
int sql_scan__next(struct sql_scan *s, sqlite3_vtab *vt, const struct stk_event **ret_event);
/*
 * The same for those who count: *ret_count events that have the generic values of this one, but for
 * the time.
 */
int sql_scan__next_counted(struct sql_scan *s, sqlite3_vtab *vt, const struct stk_event **ret_event,
			   uint64_t *ret_count);
/* The number of the name in rec->comms; -ENOMEM. */
int sql_scan__comm(struct sql_scan *s, const struct stk_event *e, uint32_t *ret_number);
void sql_scan__close(struct sql_scan *s);

/* Sets the message of the table's error; returns code. */
int sql_error(sqlite3_vtab *vt, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SQL_RECORDING_H */
