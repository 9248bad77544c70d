/* SPDX-License-Identifier: GPL-2.0-only */
/* One recording from start to end, as `stackonce record` makes it. */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backend.h"
#include "opts.h"

struct recorder_result {
	/*
	 * The command's exit status as in a shell; 128 + SIGNAL if a signal ended the wait for the
	 * command; 0 without a command.
	 */
	int exit_status;
	uint64_t events, lost, stacks, bytes;
	struct backend_costs costs;
	unsigned int nr_left_out;
};

/*
 * Returns 0 when everything that was recorded is in the file.  Call stop__catch() (stop.h) first.
 * The first signal ends the recording, or, with a command, is passed on to it.  The second one ends
 * the recording in any case, even if the output blocks: -EINTR.  A command is then left running, as
 * it is when the recording cannot be written.  Errors are logged, except those of a command that
 * could not be executed.
 */
int recorder__run(const struct recorder_opts *opts, struct recorder_result *ret_result);

/* recorder__run() returns -(RECORDER_EXEC_FAILED + errno) for a command that cannot be executed. */
#define RECORDER_EXEC_FAILED 4096

#endif /* RECORD_RECORDER_H */
