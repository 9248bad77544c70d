/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the parts of filter_same, which compares our event filters with the kernel's:
 * filter_same.c is the main program, filter_gen.c makes expressions, filter_ring.c uses tracefs and
 * reads raw records, filter_work.c makes events, filter_bpf.c runs the BPF build of the evaluator.
 */
#ifndef FILTER_SAME_H
#define FILTER_SAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/filter.h"
#include "filter_gen.h"

#define MAX_RECORD 4096
#define NR_CHILDREN 3

struct records {
	struct record *v;
	size_t nr, cap;
	uint8_t *bytes; /* all data, at most cap_bytes: never moved */
	size_t used, cap_bytes;
};

struct workload {
	int pids[NR_CHILDREN];
	int go[NR_CHILDREN], done[NR_CHILDREN];
};
/* ---- filter_ring.c --------------------------------------------------------------------------- */

/* Functions for instances exit with a message if tracefs refuses. */
void instance__new(const char *name, unsigned int buffer_kb, const struct workload *only);
void instance__remove(const char *name);
/* 0 or the error of writing expr to the event's filter file. */
int instance__filter(const char *name, const struct event *e, const char *expr);
void instance__enable(const char *name, const struct event *e, bool on);
bool instance__try_enable(const char *name, const char *path);
/* Reads all records of all CPUs; exits if the ring lost any. */
void instance__read(const char *name, struct records *ret);
void records__free(struct records *r);
/* Hash of the parts that two instances record equally for one event, without padding. */
uint64_t record__hash(const struct ev_format *fmt, const struct record *r);

/* ---- filter_work.c --------------------------------------------------------------------------- */

struct probe_args {
	uint8_t u8;
	int8_t s8;
	uint16_t u16;
	int16_t s16;
	uint32_t u32;
	int32_t s32;
	uint64_t u64;
	int64_t s64;
	const char *str, *ustr;
	uint8_t arr[8];
};

/*
 * Defines uprobe events probe0, probe1, ... on one function of this program, with arguments of all
 * types.  Returns false if refused.
 */
bool probes__define(unsigned int nr, const char **ret_system);
void probes__undefine(void);

extern const char *const workload_comms[NR_CHILDREN + 1];
/*
 * Moves the strings of the workload to that memory.  A filter in the kernel cannot wait for a page:
 * if the page of a user string is not present, the kernel compares the string before it.
 */
void workload__pin_strings(char *memory, size_t size);
void workload__start(struct workload *w, uint64_t seed);
/* Lets every child do `rounds` pieces of work; returns when all sleep again. */
void workload__run(struct workload *w, unsigned int rounds);
void workload__stop(struct workload *w);
/* The comm of a child, or NULL. */
const char *workload__comm(const struct workload *w, int pid);

/* ---- filter_bpf.c ---------------------------------------------------------------------------- */

struct filter_bpf;
int filter_bpf__open(struct filter_bpf **ret);
void filter_bpf__free(struct filter_bpf *b);
/* Memory that is neither paged out nor moved. */
char *filter_bpf__memory(struct filter_bpf *b, size_t *ret_size);
void filter_bpf__set(struct filter_bpf *b, const struct filter_prog *prog);
/* 1 selected, 0 not. */
int filter_bpf__run(struct filter_bpf *b, const struct filter_input *in);
unsigned int filter_bpf__verified(const struct filter_bpf *b);
/* ns of one evaluation of the current program on the input of the last run. */
double filter_bpf__cost(struct filter_bpf *b);

#endif /* FILTER_SAME_H */
