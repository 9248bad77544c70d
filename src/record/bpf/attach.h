/* SPDX-License-Identifier: GPL-2.0-only */
/* Attaches the programs to events and reads the counters of the attachments. */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include <stddef.h>
#include <stdint.h>

struct attached;
struct bpf_insn;
struct bpf_prog_load_opts;
struct bpf_program;
struct ksyms;
struct programs;
struct rec_event;

/* Sets the range of the function that calls the tracers of the event, from the kernel's symbols. */
void attach__tracer_range(struct ksyms *syms, struct rec_event *e);

int attach__all(struct programs *p);
/* What an event is attached by: of a system call, that of the entries or exits of all. */
struct attached *attach__of(struct programs *p, unsigned int event);
/* Replaces the one constant `from` in the instructions; -EPROTO: there is not exactly one. */
int attach__set(struct bpf_insn *insns, size_t nr, int from, int to);
/*
 * The instructions of a program's copy for an event; the caller frees them.  Each event has a copy
 * of its own, because the kernel has one recursion guard for each program.
 */
int attach__copy(const struct bpf_program *prog, unsigned int event, struct bpf_insn **ret_insns);
/* Loads a copy of the counter program for an event; returns its descriptor or a negative errno. */
int attach__load_counter(const struct bpf_program *count, int type, unsigned int event,
			 const struct bpf_prog_load_opts *opts);
/* Detaches the counters of an event. */
void attach__drop_counters(struct programs *p, unsigned int event);
void attach__release(struct programs *p);
/*
 * The descriptors that keep the programs attached, in ascending order; the caller frees the array.
 */
int attach__fds(const struct programs *p, int **ret_fds, unsigned int *ret_nr);

/*
 * Count how often the kernel skipped a counter or a front that was already running, since arming.
 */
int attach__misses_start(struct programs *p);
int attach__misses(struct programs *p);

#endif /* RECORD_ATTACH_H */
