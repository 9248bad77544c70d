/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The script command: options in script.c, one event's text in script_event.c, its stacks in
 * script_stack.c, --fields and JSON in script_columns.c.
 */
#ifndef CMD_SCRIPT_H
#define CMD_SCRIPT_H

#include "events/format.h"
#include "ui/kernel_strings.h"
#include "ui/reading.h"

enum script_column_kind {
	COL_COMM,
	COL_PID,
	COL_TID,
	COL_CPU,
	COL_FLAGS,
	COL_TIME,
	COL_EVENT,
	COL_FIELDS,
	COL_KSTACK,
	COL_USTACK,
	COL_HOST,
	COL_FIELD, /* an event's field, by name */
};

struct script_column {
	enum script_column_kind kind;
	char *name;
};

/* Per event type; set up at its first event. */
struct script_type {
	struct ev_format *format; /* NULL if its format cannot be parsed: fields print empty */
	const struct ev_field **fields; /* per column; NULL: the type has no such field */
	struct strbuf label; /* "name: ", coloured */
	char *full_name; /* "system:name" */
	bool seen;
	uint64_t uncompiled; /* events printed field by field, without a printing plan */
};

#define TASK_SLOTS 1024
#define TASK_TEXT 72

/* "            comm-pid     " of recent tasks. */
struct script_task {
	const char *comm;
	uint32_t tid;
	uint8_t len;
	char text[TASK_TEXT];
};

/* Rendered stacks by number; all are dropped once their text exceeds this size. */
#define STACK_TEXT_MAX (64u << 20)

struct script_stack {
	uint32_t at, len; /* in stack_text */
	bool seen; /* rendered; in JSON, printed */
};

struct script {
	struct reading rd;
	struct out out;
	bool ns, no_stacks, no_header;
	bool ids; /* raw user frames, stack ids */
	bool stacks_too; /* --json --stacks */
	struct script_column *columns;
	unsigned int nr_columns;
	struct ev_print_ctx print;
	struct kernel_text text; /* for print */
	bool jiffies_known; /* jiffies can be computed from the recording's clock */
	struct script_type *types;
	unsigned int nr_types;
	struct script_task *tasks;
	struct script_stack *stacks;
	uint32_t nr_stacks;
	struct strbuf stack_text;
	bool *mapped; /* --ids: by file number, whether its file_map line is printed */
	uint32_t nr_mapped;
	struct strbuf scratch;
};

/* Names of the columns, for --fields and JSON; ends with NULL. */
extern const char *const script_column_names[];
int script__take_fields(void *into, const struct opt *o, const char *list); /* --fields */
void script__start(struct script *s); /* call when the reader is open */
void script__free(struct script *s);
/* Prints the losses that began by `until` and are not printed yet. */
void script__losses(struct script *s, uint64_t until);

/* The entry of the event's type; NULL when out of memory. */
struct script_type *script__type(struct script *s, const struct stk_event *e);
/* Rounded to microseconds as ftrace does, or with nanoseconds (--ns). */
void script__time(const struct script *s, struct strbuf *b, uint64_t ts, int width);
/* The text of the event's fields, escaped. */
void script__fields(struct script *s, struct strbuf *b, struct script_type *t,
		    const struct stk_event *e);
/* The five characters of the kernel's trace_print_lat_fmt(). */
void script__flags(const struct stk_event *e, char text[static 5]);

/* Warns about events that were printed without their print fmt. */
void script__warn_uncompiled(struct script *s);

/* script_stack.c: an event's stacks below its line. */
void script__kernel_stack(struct script *s, const struct stk_event *e);
void script__user_stack(struct script *s, const struct stk_event *e);
/* --ids: prints the file_map lines that the event's user stack needs, before the event. */
void script__put_files(struct script *s, const struct stk_event *e);
/* --json --stacks: prints the event's stacks that are new, before the event. */
void script__put_new_stacks(struct script *s, const struct stk_event *e);
void script__free_stacks(struct script *s);

void script__line(struct script *s, const struct stk_event *e);
void script__columns(struct script *s, const struct stk_event *e);
void script__json(struct script *s, const struct stk_event *e);

#endif /* CMD_SCRIPT_H */
