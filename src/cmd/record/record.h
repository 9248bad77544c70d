/* SPDX-License-Identifier: GPL-2.0-only */
/* The record command: record_options.c parses its options, record.c runs it. */
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
		char *any_of; /* owned: filter that joins those of several presets */
		bool optional; /* left out if this kernel lacks it */
	} events[RECORD_MAX_EVENT_OPTIONS];
	unsigned int nr_events, nr_given; /* all; those given with -e, which come first */
	const struct preset *presets[RECORD_MAX_PRESETS];
	unsigned int nr_presets;
	pid_t pids[RECORD_MAX_PIDS];
	bool all, quiet, verbose, live, user_stacks_given;
	enum { BACKEND_AUTO, BACKEND_BPF, BACKEND_FTRACE } backend; /* --backend */
	bool user_cfi_given;
};

extern const struct opt record_options[];

/* Parses the command line into o, which holds the defaults; returns as options__parse() does. */
int record_options__parse(int argc, char **argv, struct record_options *o);

#endif /* CMD_RECORD_H */
