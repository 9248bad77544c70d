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
	COL_FIELD, /* an event's field, by name */
};

struct script_column {
	enum script_column_kind kind;
	char *name;
};

/* What is known of an event type, made when its first event comes. */
struct script_type {
	struct ev_format *format; /* NULL when its text is no format: fields print empty */
	const struct ev_field **fields; /* per column; NULL where it has no such field */
	struct strbuf label; /* "name: ", coloured */
	char *full_name; /* "system:name" */
	bool seen;
	uint64_t uncompiled; /* events printed field by field, for want of a plan */
};

#define TASK_SLOTS 1024
#define TASK_TEXT 72

/* "            comm-pid     " of the tasks seen last. */
struct script_task {
	const char *comm;
	uint32_t tid;
	uint8_t len;
	char text[TASK_TEXT];
};

/* Rendered stacks by number; all are dropped when there is too much text. */
#define STACK_TEXT_MAX (64u << 20)

struct script_stack {
	uint32_t at, len; /* in the text */
	bool seen; /* rendered, and in JSON printed */
};

struct script {
	struct reading rd;
	struct out out;
	bool ns, no_stacks, no_header;
	bool ids; /* raw user frames, stack ids */
	bool stacks_too; /* JSON: objects for stacks */
	struct script_column *columns;
	unsigned int nr_columns;
	struct ev_print_ctx print;
	struct kernel_text text; /* for print */
	bool jiffies_known; /* they follow from the recording's clock */
	struct script_type *types;
	unsigned int nr_types;
	struct script_task *tasks;
	struct script_stack *stacks;
	uint32_t nr_stacks;
	struct strbuf stack_text;
	bool *told; /* --ids: by file, whether its file_map line is out */
	uint32_t nr_told;
	struct strbuf scratch;
};

/* Names of the columns, for --fields and JSON; ends with NULL. */
extern const char *const script_column_names[];
int script__take_fields(void *into, const struct opt *o, const char *list); /* --fields */
void script__start(struct script *s); /* the reader is open */
void script__free(struct script *s);
/* Those that began by then and have not been printed. */
void script__losses(struct script *s, uint64_t until);

/* What is kept of the event's type; NULL when out of memory. */
struct script_type *script__type(struct script *s, const struct stk_event *e);
/* Rounded to microseconds as ftrace does, or all nanoseconds. */
void script__time(const struct script *s, struct strbuf *b, uint64_t ts, int width);
/* The event's text behind its name; what the kernel printed raw is made safe here. */
void script__fields(struct script *s, struct strbuf *b, struct script_type *t,
		    const struct stk_event *e);
/* The five characters of the kernel's trace_print_lat_fmt(). */
void script__flags(const struct stk_event *e, char text[static 5]);

/* Says which events were printed without their print fmt. */
void script__warn_uncompiled(struct script *s);

/* script_stack.c: an event's stacks below its line. */
void script__kernel_stack(struct script *s, const struct stk_event *e);
void script__user_stack(struct script *s, const struct stk_event *e);
/* --ids: the file_map lines that must stand before the event. */
void script__tell_files(struct script *s, const struct stk_event *e);
/* --json --stacks: the stacks that must stand before it. */
void script__tell_stacks(struct script *s, const struct stk_event *e);
void script__free_stacks(struct script *s);

void script__line(struct script *s, const struct stk_event *e);
void script__columns(struct script *s, const struct stk_event *e);
void script__json(struct script *s, const struct stk_event *e);

#endif /* CMD_SCRIPT_H */
