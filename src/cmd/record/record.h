/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The record command: record_options.c and record_select.c parse its options, record.c runs it.
 */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/kernel/cgroup_dir.h"
#include "record/recorder.h"
#include "ui/options.h"
#include "ui/presets.h"
#include "ui/ui.h"
#include "wire.h"

#define RECORD_MAX_EVENT_OPTIONS 1024
#define RECORD_MAX_PIDS 4096
#define RECORD_MAX_CGROUPS WIRE_MAX_CGROUPS
#define RECORD_MAX_UIDS WIRE_MAX_UIDS

struct record_options {
	struct recorder_opts rec;
	struct event_option {
		const char *spec, *filter;
		char *any_of; /* owned: filter that joins those of several presets */
		bool optional; /* left out if this kernel lacks it */
	} events[RECORD_MAX_EVENT_OPTIONS];
	unsigned int nr_events, nr_given; /* all; those given with -e, which come first */
	const struct preset *presets[PRESETS_MAX];
	unsigned int nr_presets;
	pid_t pids[RECORD_MAX_PIDS];
	const char *cgroups[RECORD_MAX_CGROUPS]; /* as given */
	unsigned int nr_cgroups;
	struct cgroup_dir cgroup_dirs[RECORD_MAX_CGROUPS]; /* rec.nr_cgroups of them are open */
	uint32_t uids[RECORD_MAX_UIDS];
	struct num_set cpus;
	uint64_t cpu_bits[WIRE_MAX_CPUS / 64];
	uint64_t delay_ms;
	bool all, quiet, verbose, live, user_stacks_given;
	enum { BACKEND_AUTO, BACKEND_BPF, BACKEND_FTRACE } backend; /* --backend */
	bool user_cfi_given;
	bool cache; /* find and keep tables in the cache directory */
	bool call_graph; /* -g, --call-graph: no effect */
};

extern const struct opt record_options[];

/* Parses the command line into o, which holds the defaults; returns as options__parse() does. */
int record_options__parse(int argc, char **argv, struct record_options *o);

/* Take the value of an option, see opt_take_fn. */
int record_select__cgroup(void *into, const struct opt *opt, const char *path);
int record_select__uids(void *into, const struct opt *opt, const char *list);
/* Looks up what was selected on this machine: CMD_OK, or CMD_FAILURE after a message. */
int record_select__open(struct record_options *o);
void record_select__close(struct record_options *o);

#endif /* CMD_RECORD_H */
