/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of the pairs analysis; pairs.h is its interface. */
#ifndef ANALYZE_PAIRS_PRIV_H
#define ANALYZE_PAIRS_PRIV_H

#include "analyze/key_table.h"
#include "events/format.h"
#include "pairs.h"
#include "string_table.h"

/* ---- --match and --by (pairs_spec.c) --------------------------------------------------------- */

#define SPEC_ALTERNATIVES 4

/* a|b: the first field that the event has. */
struct spec_side {
	const char *names[SPEC_ALTERNATIVES];
	unsigned int nr;
};

struct spec {
	char *text; /* the names point into it */
	struct spec_side start[PAIRS_MAX_MATCH], end[PAIRS_MAX_MATCH]; /* match */
	unsigned int nr_match;
	struct spec_side by[PAIRS_MAX_BY];
	unsigned int nr_by;
	const char *if_field; /* --start-if; NULL: none */
	uint64_t if_mask, if_value;
};

/* -EINVAL and *ret_why, -ENOMEM. */
int spec__parse(const char *match, const char *by, const char *start_if, struct spec *ret_spec,
		const char **ret_why);
void spec__free(struct spec *s);

/* ---- event types (pairs_type.c) -------------------------------------------------------------- */

enum source_kind {
	SOURCE_NONE = 0, /* the event does not have it */
	SOURCE_TID, /* header; each CPU's idle task is a separate thread */
	SOURCE_CPU,
	SOURCE_CONTEXT, /* task, softirq, hardirq or NMI */
	SOURCE_EVENT,
	SOURCE_PID,
	SOURCE_COMM,
	SOURCE_NUMBER, /* a field */
	SOURCE_TASK, /* a field that is a pid_t: a thread */
	SOURCE_STRING,
};

struct source {
	enum source_kind kind;
	const struct ev_field *field;
};

/* Events that begin or end threads, whether or not they are starts or ends as well. */
enum type_life { LIFE_NONE = 0, LIFE_FORK, LIFE_NEWTASK, LIFE_EXIT, LIFE_EXEC };

struct pairs_type {
	const struct stk_event_type *type;
	unsigned int role;
	enum type_life life;
	struct ev_format *format;
	struct source start[PAIRS_MAX_MATCH], end[PAIRS_MAX_MATCH];
	struct source by[PAIRS_MAX_BY];
	const struct ev_field *start_if; /* NULL: the type lacks it */
	const struct ev_field *pid, *old_pid; /* life: the thread concerned */
	bool needs_fields; /* the key cannot be read without fields */
};

/* -ENOENT: a field of --match is missing, which is logged. */
int pairs_type__init(struct pairs_type *t, const struct pairs *p,
		     const struct stk_event_type *type);
void pairs_type__clear(struct pairs_type *t);

/* ---- open starts (pairs_open.c) -------------------------------------------------------------- */

struct open_key {
	uint64_t v[PAIRS_MAX_MATCH]; /* unused parts are 0 */
};

struct open_start {
	struct pairs_end at;
	uint32_t task; /* the thread of the key; 0: none */
	uint32_t below; /* index + 1 of the start it is nested in, or of the next unused one */
	uint32_t over; /* starts on top of it that were not kept, and have not ended */
	uint32_t by[PAIRS_MAX_BY];
	bool selected, used;
	uint8_t no_by; /* bit i: its type does not have --by i */
};

struct open_slot {
	struct open_key key;
	uint32_t top; /* index + 1; 0: none open */
};

/* A zeroed struct open is empty. */
struct open {
	struct open_slot *slots; /* some have no start */
	uint32_t nr_slots, max_slots;
	struct index index; /* of their keys */
	unsigned int parts; /* of the keys */
	uint32_t live; /* slots that have a start */
	struct open_start *v;
	uint32_t nr_v, max_v, free; /* index + 1 */
	uint32_t nr; /* open */
	uint64_t seed; /* of the keys' hash */
};

/* Finds or adds the slot of key, valid until the next open__place(); NULL: out of memory. */
struct open_slot *open__place(struct open *o, const struct open_key *key);
/* The slot of key; NULL: it has no start. */
struct open_slot *open__find(const struct open *o, const struct open_key *key);
/* Pushes a new start for the caller to fill in; NULL: out of memory. */
struct open_start *open__push(struct open *o, struct open_slot *slot);
/* The newest start; NULL: none. */
struct open_start *open__top(const struct open *o, const struct open_slot *slot);
/* Removes the newest start, which must exist; it is readable until the next open__push(). */
void open__pop(struct open *o, struct open_slot *slot);
void open__clear(struct open *o);

/* ---- values of an event (pairs_value.c) ------------------------------------------------------ */

/* An event and its record, which is read on first use. */
struct event_view {
	const struct stk_event *e;
	const struct pairs_type *type;
	uint32_t tid, cpu;
	const void *rec;
	size_t len;
	bool has_rec;
};

static inline bool source__is_string(const struct source *s)
{
	return s->kind == SOURCE_COMM || s->kind == SOURCE_STRING;
}

/* False: the event was recorded without this field. */
bool event_view__number(struct event_view *v, const struct source *s, uint64_t *ret_value);
/* NULL: the same.  Valid until the next event. */
const char *event_view__string(struct event_view *v, const struct source *s, size_t *ret_len);
int event_view__end(struct pairs *p, struct event_view *v, struct pairs_end *ret_end);

enum { KEY_PART = 0, KEY_ALL, KEY_IDLE };

/*
 * KEY_PART: fields are missing, *ret_key has the others.  KEY_IDLE: the thread of the key is an
 * idle task.  -ENOMEM.
 */
int event_view__key(struct pairs *p, struct event_view *v, const struct source *sources,
		    struct open_key *ret_key);
/* The thread of the key; 0: none, or an idle task. */
uint32_t open_key__task(const struct pairs *p, const struct source *sources,
			const struct open_key *key);

/* ---- begin and end of threads (pairs.c) ------------------------------------------------------ */

/* When a tid last got another thread, or lost its thread. */
struct life {
	uint64_t ts;
	bool ended;
};

/* ---- missing events (pairs_miss.c) ----------------------------------------------------------- */

/* Collects the types of starts and ends, also those without an event so far.  -ENOMEM. */
int miss__update_types(struct pairs *p, const struct stk_reader *r);
/* May a start or an end be missing between start and to (ns)? */
bool miss__between(const struct pairs *p, struct stk_reader *r, const struct pairs_end *start,
		   uint64_t to);
/* Sums up the recording's counters of these types, which explain missing pairs. */
void miss__count(struct pairs *p, const struct stk_reader *r);

/* ---- groups (pairs_group.c) ------------------------------------------------------------------ */

#define GROUP_CACHE 64

struct group_key {
	uint32_t by[PAIRS_MAX_BY];
};

struct weight {
	uint32_t group, kstack, ustack;
	uint64_t ns;
};

struct groups {
	struct pairs_group **v;
	struct group_key *keys;
	uint32_t nr, max, max_keys;
	struct index index; /* of the keys */
	uint32_t others; /* index + 1 */
	struct weight *weights;
	uint32_t nr_weights, max_weights;
	struct index weight_index;
	uint64_t seed; /* of the hashes */
	const struct pairs_group **sorted; /* groups with at least one pair */
	uint32_t nr_sorted;
	struct {
		struct group_key key;
		uint32_t group; /* + 1; 0: unused */
	} cache[GROUP_CACHE];
};

int groups__find(struct pairs *p, const struct group_key *key, uint32_t *ret_group);
int groups__add(struct pairs *p, uint32_t group, const struct pairs_pair *pair);
int groups__sort(struct pairs *p);
void groups__clear(struct pairs *p);

/* ---- the analysis ---------------------------------------------------------------------------- */

#define COMM_CACHE 1024
#define BY_CACHE 64
#define MAX_VALUES (1u << 16) /* of one --by field */

/* The values of one --by field. */
struct by_values {
	struct string_table table;
	struct pairs_label *labels; /* by number - 1 */
	uint32_t max_labels;
	struct {
		uint64_t value;
		uint32_t number; /* 0: unused */
	} cache[BY_CACHE]; /* for number fields */
};

struct pairs {
	struct pairs_opts opts;
	struct spec spec;
	int task_part; /* part of the key that is the thread; -1: none */
	bool of_cpu, of_tid; /* the key contains cpu, tid of the header */
	struct pairs_type *types;
	unsigned int nr_types;
	const struct stk_event_type **roles; /* types with a role, of the first nr_types_seen */
	unsigned int nr_roles, max_roles, nr_types_seen;
	uint64_t unreadable; /* ns + 1 of the last event whose key could not be read */
	struct by_values by[PAIRS_MAX_BY];
	struct string_table comms;
	struct {
		const char *comm;
		uint32_t number;
	} comm_cache[COMM_CACHE];
	struct open open;
	struct key_table lives; /* thread -> struct life */
	struct groups groups;
	struct pairs_end *oldest;
	struct pairs_counts counts;
};

#endif /* ANALYZE_PAIRS_PRIV_H */
