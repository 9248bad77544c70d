/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of the view's data; data.h is their interface.
 *
 *   data.c          adds events, pairs and losses
 *   cells.c         sums by bin and key
 *   calls.c         stacks as a tree
 *   slowest.c       the slowest pairs
 *   loss_list.c     losses
 *   thin.c          merges what is too much
 *   page_numbers.c  what the page has, and its numbers there
 *   columns.c       the tables as columns
 *   head.c          the head
 */
#ifndef VIEW_DATA_PRIV_H
#define VIEW_DATA_PRIV_H

#include "analyze/charge.h"
#include "analyze/key_table.h"
#include "calls.h"
#include "cells.h"
#include "data.h"
#include "loss_list.h"
#include "slowest.h"
#include "string_table.h"

#define VIEW_BUCKETS 256
#define VIEW_MAX_NUMBER ((1ull << 53) - 1)

struct view_task {
	uint32_t tid, pid;
	uint32_t comm; /* a string */
	uint32_t host;
};

/* CPUs of several boots are others; a damaged recording may have any numbers. */
struct view_cpu {
	uint32_t host, number;
};

/* What is added up, by the numbers of the reader. */
struct view_source {
	uint32_t what; /* 0: events; else the kind of pairs + 1, whose ns are added up */
	uint32_t cpu, type, task;
	uint32_t kstack, ustack;
};

/* The same as the page has it. */
struct view_place {
	uint32_t what;
	uint32_t cpu, type, task;
	uint32_t stack; /* node + 1, 0: none */
};

#define VIEW_TASK_CACHE 1024
#define VIEW_CPU_CACHE 256

struct view_data {
	struct stk_reader *r;
	struct string_table strings;
	struct string_table hosts; /* of several boots; else one without a name */
	struct view_calls calls;
	struct key_table tasks; /* struct view_task -> task + 1 that stands for it, 0: itself */
	struct {
		uint32_t tid, pid;
		const char *comm, *host;
		uint32_t task; /* + 1; 0: unused */
		uint32_t host_nr;
	} task_cache[VIEW_TASK_CACHE];
	struct key_table cpus; /* struct view_cpu */
	struct {
		struct view_cpu key;
		uint32_t cpu; /* + 1; 0: unused */
	} cpu_cache[VIEW_CPU_CACHE];
	struct key_table sources; /* struct view_source -> number of a place */
	struct key_table places; /* struct view_place */
	struct view_cells cells; /* by place */
	struct view_cells heat; /* numbers of pairs, by kind and bucket */
	struct view_slowest slowest;
	struct view_losses losses;
	uint64_t events, pairs;
	uint64_t *type_events; /* by index */
	unsigned int nr_type_events;
	uint64_t *kind_pairs; /* by kind */
	unsigned int nr_kind_pairs;

	uint64_t begin, end; /* ns; what is later than end is at it */
	unsigned int shift; /* a bin is 1 << shift ns wide */
	uint32_t nr_bins; /* up to the last that is used */
	bool has_begun;
	bool several_boots;

	uint32_t *cut; /* by node: node + 1 that stands for it, 0: none */
	uint32_t nr_cut;
	uint32_t task_limit; /* so many busiest tasks are rows; 0: all, UINT32_MAX: some */
	unsigned int step; /* of what is merged */
	bool has_few_bins; /* there would be more if there were fewer cells */
	double rare; /* stacks with a smaller share are cut; 0: none are */
	uint32_t max_cells; /* more are merged */
	struct charge charge;
	uint64_t work;
};

/* Merges until there are at most VIEW_MAX_CELLS, as far as that is possible.  -ENOMEM. */
int view_data__thin(struct view_data *d);
int view_data__limit_tasks(struct view_data *d);
/* Sorts the cells for the page, once all is added.  -ENOMEM. */
int view_data__sort(struct view_data *d);
/* Widens the bins by 2^shift. */
void view_data__widen(struct view_data *d, unsigned int shift);
/* The number of a task, which is added if it is new.  -ENOMEM. */
int view_data__task(struct view_data *d, uint32_t tid, uint32_t pid, const char *comm,
		    uint32_t host, uint32_t *ret_task);
/* The bin of a time, as they are now: at most the last one. */
uint32_t view_data__bin_of(const struct view_data *d, uint64_t ts);

/* ---- the page (columns.c) -------------------------------------------------------------------- */

/* The tables, as the head lists them. */
enum view_table_name {
	VIEW_TASKS,
	VIEW_FRAMES,
	VIEW_NODES,
	VIEW_CELLS,
	VIEW_LOSSES,
	VIEW_PAIR_CELLS,
	VIEW_SLOW,
	NR_VIEW_TABLES,
};

struct view_column {
	char name[16];
	bool is_delta;
	struct strbuf bytes;
	uint64_t last; /* number */
};

struct view_table {
	const char *name;
	uint32_t rows;
	struct view_column *columns;
	unsigned int nr_columns;
};

/* Which numbers the page uses, and what they are there: from 0, in the same order. */
struct view_numbers {
	uint32_t *of; /* number there + 1; 0: not used */
	uint32_t nr; /* of them */
	uint32_t *used; /* by number there */
	uint32_t nr_used;
};

/* In the order in which they refer to each other. */
enum view_number_of {
	OF_KINDS,
	OF_TYPES,
	OF_CPUS,
	OF_TASKS,
	OF_NODES,
	OF_FRAMES,
	OF_HOSTS,
	OF_STRINGS,
	NR_VIEW_NUMBERS,
};

struct view_tables {
	struct view_table v[NR_VIEW_TABLES];
	struct view_numbers numbers[NR_VIEW_NUMBERS];
	uint64_t *lost; /* by index of the event type */
	uint64_t lost_total;
	uint64_t sample_ns; /* CPU time of a timer sample; 0: unknown, or there are none */
};

/* -ENOMEM. */
int view_tables__make(const struct view_data *d, const struct view_head *head,
		      struct view_tables *ret_tables);
void view_tables__clear(struct view_tables *t);
/* Appends the head (head.c). */
void view_tables__put_head(const struct view_tables *t, const struct view_data *d,
			   const struct view_head *head, struct strbuf *out);
/* The events of each type that were lost, as far as is known (page_numbers.c). */
int view_data__lost_by_type(const struct view_data *d, bool is_selection, uint64_t **ret_lost,
			    uint64_t *ret_total);

/* What the page has of all this (page_numbers.c).  -ENOMEM. */
int view_tables__number(struct view_tables *t, const struct view_data *d);

static inline uint32_t view_tables__of(const struct view_tables *t, enum view_number_of what,
				       uint32_t number)
{
	return t->numbers[what].of[number] - 1;
}

#endif /* VIEW_DATA_PRIV_H */
