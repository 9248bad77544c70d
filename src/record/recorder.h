/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording from start to end: what `stackonce record` does behind its options. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend.h"
#include "opts.h"

struct recorder_result {
	/* The command's, as the shell has it; 128 + SIGNAL of the one that left it running; or 0. */
	int exit_status;
	uint64_t events, lost, stacks, bytes;
	struct backend_costs costs;
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

#endif /* RECORD_RECORDER_H */
