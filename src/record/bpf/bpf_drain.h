/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moves events, tasks, stacks and the symbols they need from the rings of the CPUs to the writer.
 */
#ifndef RECORD_BPF_DRAIN_H
#define RECORD_BPF_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce-counters.h"

struct backend_stats;
struct bpf_drain;
struct user_files;
struct ksyms;
struct programs;
struct rec_events;
struct stk_writer;

struct bpf_drain_opts {
	struct programs *programs;
	const struct rec_events *events; /* in the order of the writer and the programs */
	struct ksyms *syms;
	struct stk_writer *w;
	struct user_files *files; /* NULL: no user stacks */
	bool user_fp_only;
};

/* Borrows everything that the options point to. */
int bpf_drain__new(const struct bpf_drain_opts *opts, struct bpf_drain **ret_drain);
void bpf_drain__free(struct bpf_drain *d);

/* Passes the events in the rings to the writer, at most one ring size of each CPU. */
int bpf_drain__run(struct bpf_drain *d);
/* To be called when the writer has ended a round. */
void bpf_drain__end_round(struct bpf_drain *d);

/* The frames of a kernel stack, at most STK_MAX_DEPTH.  -ENOENT: it is not in the stack map. */
int bpf_drain__frames(struct bpf_drain *d, uint32_t id, uint64_t *ret_frames, unsigned int *ret_nr);

/* Adds the ends of deferred stacks to rows of STK_NR_COUNTERS. */
void bpf_drain__add_ends(const struct bpf_drain *d, uint64_t (*counters)[STK_NR_COUNTERS]);

void bpf_drain__stats(const struct bpf_drain *d, struct backend_stats *ret_stats);

#endif /* RECORD_BPF_DRAIN_H */
