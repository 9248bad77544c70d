/* SPDX-License-Identifier: GPL-2.0-only */
/* What is recorded and how: the options of one recording. */
#ifndef RECORD_OPTS_H
#define RECORD_OPTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "rec_clock.h"

struct ksyms;
struct rec_events;

enum rec_backend { REC_BACKEND_BPF, REC_BACKEND_FTRACE };

/* Who walks the kernel's stacks. */
enum rec_kernel_unwind {
	REC_UNWIND_AUTO, /* we, where that is possible */
	REC_UNWIND_ORC, /* we; where it is not possible, that is an error */
	REC_UNWIND_KERNEL,
};

struct recorder_opts {
	enum rec_backend backend;
	const char *output; /* "-": standard output */
	bool force; /* also where that is a file, and no recording */
	struct rec_events *events; /* resolved */
	struct ksyms *syms; /* the running kernel's */
	unsigned int sample_hz;
	unsigned int sample_event; /* index in events */
	bool sample_cycles, keep_idle, include_self, kernel_stacks, fsync;
	enum rec_kernel_unwind kernel_unwind;
	bool user_stacks;
	bool user_stacks_must; /* were asked for: not to be had is an error */
	bool user_fp_only; /* by frame pointers alone */
	bool symbols; /* of user frames, into the recording at its end */
	const pid_t *pids; /* -p; processes or threads */
	unsigned int nr_pids;
	char *const *command; /* NULL, or the command and its arguments */
	bool command_only; /* only the command's own events */
	enum rec_clock clock;
	uint64_t duration_ns; /* 0: until stopped */
	uint32_t max_depth, stack_map_bits;
	uint64_t stack_pool, buffer_size;
	uint64_t table_budget; /* bytes of unwind tables */
	int argc; /* of the command line, for the metadata */
	char *const *argv;
	/* Called about twice a second with one line; NULL: never. */
	void (*status)(void *ctx, const char *line);
	void *status_ctx;
};

/* Only events of tasks that target.h names are wanted. */
static inline bool recorder_opts__selects_tasks(const struct recorder_opts *o)
{
	return o->nr_pids || (o->command && o->command_only);
}

#endif /* RECORD_OPTS_H */
