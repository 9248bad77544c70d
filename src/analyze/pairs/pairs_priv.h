/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of pairs share; see pairs.h. */
#ifndef ANALYZE_PAIRS_PRIV_H
#define ANALYZE_PAIRS_PRIV_H

#include "analyze/key_table.h"
#include "events/format.h"
#include "pairs.h"
#include "string_table.h"

/* ---- --match and --by (pairs_spec.c) --------------------------------------------------------- */

#define SPEC_ALTERNATIVES 4

/* a|b: the first that the event has. */
struct spec_side {
	const char *names[SPEC_ALTERNATIVES];
	unsigned int nr;
};

struct spec {
	char *text; /* what the names point into */
	struct spec_side start[PAIRS_MAX_MATCH], end[PAIRS_MAX_MATCH]; /* match */
	unsigned int nr_match;
	const char *by[PAIRS_MAX_BY];
	unsigned int nr_by;
	const char *if_field; /* --start-if, NULL: none */
	uint64_t if_mask, if_value;
};

/* -EINVAL and *ret_why, -ENOMEM. */
int spec__parse(const char *match, const char *by, const char *start_if, struct spec *ret_spec,
		const char **ret_why);
void spec__free(struct spec *s);

/* ---- event types (pairs_type.c) -------------------------------------------------------------- */

enum source_kind {
	SOURCE_NONE = 0, /* the event does not have it */
	SOURCE_TID, /* header; the idle tasks of the CPUs are told apart */
	SOURCE_CPU,
	SOURCE_CONTEXT, /* task, softirq, hardirq, NMI: what of these is under way */
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

/* What an event says of the life of threads, without being a start or an end. */
enum type_life { LIFE_NONE = 0, LIFE_FORK, LIFE_NEWTASK, LIFE_EXIT, LIFE_EXEC };

struct pairs_type {
	const struct stk_event_type *type;
	unsigned int role;
	enum type_life life;
	struct ev_format *format;
	struct source start[PAIRS_MAX_MATCH], end[PAIRS_MAX_MATCH];
	struct source by[PAIRS_MAX_BY];
	const struct ev_field *start_if; /* NULL: it does not have that */
	const struct ev_field *pid, *old_pid; /* life: the thread it is about */
	bool needs_fields; /* without them it is not known what it starts or ends */
};

/* -ENOENT after a message. */
int pairs_type__init(struct pairs_type *t, const struct pairs *p,
		     const struct stk_event_type *type);
void pairs_type__clear(struct pairs_type *t);

/* ---- open starts (pairs_open.c) -------------------------------------------------------------- */

struct open_key {
	uint64_t v[PAIRS_MAX_MATCH]; /* what is not in use is 0 */
};

struct open_start {
	struct pairs_end at;
	uint32_t task; /* thread that both ends are of, as the key has it; 0: there is none */
	uint32_t below; /* index + 1 of the start it is nested in; or the next free one */
	uint32_t over; /* starts on top of it that were not kept, and whose ends are to come */
	uint32_t by[PAIRS_MAX_BY];
	bool selected, used;
	uint8_t no_by; /* bit i: its type does not have --by i */
};

struct open_slot {
	struct open_key key;
	uint32_t top; /* index + 1; 0: none open */
};

/* Zero is empty. */
struct open {
	struct open_slot *slots; /* some without a start */
	uint32_t nr_slots, max_slots;
	struct index index; /* of their keys */
	unsigned int parts; /* of the keys */
	uint32_t live; /* slots with a start */
	struct open_start *v;
	uint32_t nr_v, max_v, free; /* index + 1 */
	uint32_t nr; /* open */
	uint64_t seed; /* of the keys' hash */
};

/* Where the key's starts are or will be, until the next one is placed; NULL: out of memory. */
struct open_slot *open__place(struct open *o, const struct open_key *key);
/* Where they are; NULL: it never had one, or none for long. */
struct open_slot *open__find(const struct open *o, const struct open_key *key);
/* A new start on top of them, to be filled in; NULL: out of memory. */
struct open_start *open__push(struct open *o, struct open_slot *slot);
/* The newest of them; NULL: the key has no start. */
struct open_start *open__top(const struct open *o, const struct open_slot *slot);
/* Takes it away, which has to be there; what it was can be read until the next push. */
void open__pop(struct open *o, struct open_slot *slot);
void open__clear(struct open *o);

/* ---- values of an event (pairs_value.c) ------------------------------------------------------ */

/* An event and its record, which is asked for when it is needed. */
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

/* False: it is a field that this event came without. */
bool event_view__number(struct event_view *v, const struct source *s, uint64_t *ret_value);
/* NULL as above; lives until the next event. */
const char *event_view__string(struct event_view *v, const struct source *s, size_t *ret_len);
int event_view__end(struct pairs *p, struct event_view *v, struct pairs_end *ret_end);

enum { KEY_PART = 0, KEY_ALL, KEY_IDLE };

/* KEY_PART: fields are missing, ret_key has what is known; KEY_IDLE: of an idle task; or -ENOMEM. */
int event_view__key(struct pairs *p, struct event_view *v, const struct source *sources,
		    struct open_key *ret_key);
/* The thread in the key; 0: there is none, or an idle one. */
uint32_t open_key__task(const struct pairs *p, const struct source *sources,
			const struct open_key *key);

/* ---- threads that come and go (pairs.c) ------------------------------------------------------ */

/* Since when a thread id means another thread, or none. */
struct life {
	uint64_t ts;
	bool ended;
};

/* ---- what may be missing (pairs_miss.c) ------------------------------------------------------ */

/* The types that may start or end something, whether or not an event of them has come yet.  -ENOMEM. */
int miss__look_at_types(struct pairs *p, const struct stk_reader *r);
/* Whether something that starts or ends what is open since start may be missing until then. */
bool miss__between(const struct pairs *p, struct stk_reader *r, const struct pairs_end *start,
		   uint64_t to);
/* What the recording counts of these types, for those who ask why pairs are missing. */
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
	const struct pairs_group **sorted; /* those with pairs that count */
	uint32_t nr_sorted;
	struct {
		struct group_key key;
		uint32_t group; /* + 1; 0: an empty place */
	} cache[GROUP_CACHE];
};

int groups__find(struct pairs *p, const struct group_key *key, uint32_t *ret_group);
int groups__add(struct pairs *p, uint32_t group, const struct pairs_pair *pair);
int groups__sort(struct pairs *p);
void groups__clear(struct pairs *p);

/* ---- all of it ------------------------------------------------------------------------------- */

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
		uint32_t number; /* 0: an empty place */
	} cache[BY_CACHE]; /* of number fields */
};

struct pairs {
	struct pairs_opts opts;
	struct spec spec;
	int task_part; /* of match: the thread that start and end are of, -1: none */
	bool of_cpu, of_tid; /* both ends are of one CPU, or one thread, by their headers */
	struct pairs_type *types;
	unsigned int nr_types;
	const struct stk_event_type **roles; /* types with one, of the nr_looked first */
	unsigned int nr_roles, max_roles, nr_looked;
	uint64_t blind; /* time of the last event whose key could not be read, +1 */
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
