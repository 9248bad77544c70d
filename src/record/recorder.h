/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording from start to end: what `stackonce record` does behind its options. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "programs.h"

struct ksyms;
struct rec_events;

enum rec_backend { REC_BACKEND_BPF = 0, REC_BACKEND_FTRACE = 1 };

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

struct recorder_result {
	/* The command's, as the shell has it; 128 + SIGNAL of the one that left it running; or 0. */
	int exit_status;
	uint64_t events, lost, stacks, bytes;
	struct programs_costs costs;
	unsigned int nr_left_out;
};

/*
 * Returns 0 when everything that was recorded is in the file.  Signals must have been caught
 * (stop.h): one ends the recording, or with a command asks that to end; a second one ends it in
 * any case, and an output that blocks too: -EINTR.  A command is then left running, as it is when
 * the recording cannot be written.  Errors have been logged, but for those of a command that
 * could not be run.
 */
int recorder__run(const struct recorder_opts *opts, struct recorder_result *ret_result);

/* -ENOENT, -EACCES, ... of a command that could not be run, in recorder__run()'s answer. */
#define RECORDER_EXEC_FAILED 4096 /* added to the errno, the sum negated */

uint64_t recorder_clock_ns(enum rec_clock clock);

#endif /* RECORD_RECORDER_H */
