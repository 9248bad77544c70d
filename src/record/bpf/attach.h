/* SPDX-License-Identifier: GPL-2.0-only */
/* Attaching the programs to events, and what is read off the attachments. */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include <stdint.h>

struct bpf_prog_load_opts;
struct bpf_program;
struct ksyms;
struct programs;
struct rec_event;

/* Fills in where the tracepoint's calls into tracers are, from the kernel's symbols. */
void attach__tracer_range(struct ksyms *syms, struct rec_event *e);

int attach__all(struct programs *p);
/* A copy of the counter for this event, as a program of that type; its descriptor. */
int attach__load_counter(const struct bpf_program *count, int type, unsigned int event,
			 const struct bpf_prog_load_opts *opts);
/* The event goes without its counters. */
void attach__drop_counters(struct programs *p, unsigned int event);
void attach__release(struct programs *p);
/* The descriptors that keep the programs attached, in ascending order; the caller frees them. */
int attach__fds(const struct programs *p, int **ret_fds, unsigned int *ret_nr);

/* How often the kernel skipped a counter because it ran already, since the start of arming. */
int attach__misses_start(struct programs *p);
int attach__misses(struct programs *p);

/* Timer samples on one CPU more. */
int attach__sample_cpu(struct programs *p, unsigned int cpu);
void attach__samples_start(struct programs *p);
void attach__samples_stop(struct programs *p);
/* What the counter behind the samples of this CPU counted while armed, and for how long, ns. */
void attach__samples_read(const struct programs *p, unsigned int cpu, uint64_t *ret_counted,
			  uint64_t *ret_enabled);
/* Reads the throttle records that came since. */
void attach__samples_poll(struct programs *p);

#endif /* RECORD_ATTACH_H */
