/* SPDX-License-Identifier: GPL-2.0-only */
/* The record command: what is asked for, in record_options.c; what becomes of it, in record.c. */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/recorder.h"
#include "ui/options.h"
#include "ui/presets.h"

#define RECORD_MAX_EVENT_OPTIONS 1024
#define RECORD_MAX_PRESETS 16
#define RECORD_MAX_PIDS 4096

struct record_options {
	struct recorder_opts rec;
	struct event_option {
		const char *spec, *filter;
		char *any_of; /* filter made of several */
		bool optional; /* left out where this kernel does not have it */
	} events[RECORD_MAX_EVENT_OPTIONS];
	unsigned int nr_events, nr_given; /* those given with -e come first */
	const struct preset *presets[RECORD_MAX_PRESETS];
	unsigned int nr_presets;
	pid_t pids[RECORD_MAX_PIDS];
	bool all, quiet, verbose, user_stacks_given;
	enum { BACKEND_AUTO, BACKEND_BPF, BACKEND_FTRACE } backend; /* as asked for */
	bool user_cfi_given;
};

extern const struct opt record_options[];

/* Into o, which holds what is so unless given: as options__parse(). */
int record_options__parse(int argc, char **argv, struct record_options *o);

#endif /* CMD_RECORD_H */
