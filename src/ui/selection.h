/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The selection of events by the options of the reading commands.  Repeated options of one kind are
 * a union; an event must match every kind that is given.
 */
#ifndef UI_SELECTION_H
#define UI_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "query/event_filter.h"
#include "time_span.h"
#include "ui.h"

/* -e with its --filter, or a --filter for all events. */
struct event_choice {
	const char *globs; /* NULL: all events that -e selects */
	const char *filter; /* NULL: none */
	int nr; /* of the filter */
};

struct selected_type {
	enum { TYPE_UNKNOWN = 0, TYPE_NO, TYPE_YES, TYPE_FILTERED } state;
	unsigned int *filters; /* of the -e that match: one of them has to select the event */
	unsigned int nr_filters;
};

#define SELECTED_COMMS 256

/* All zero selects every event. */
struct selection {
	bool any; /* something is selected: set by selection__complete() */
	bool has_events; /* -e was given */
	bool has_filter;
	struct event_choice *choices; /* in the order of the command line */
	unsigned int nr_choices, max_choices;
	struct time_span *times;
	unsigned int nr_times, max_times;
	const char **comms; /* globs, separated by commas */
	unsigned int nr_comms, max_comms;
	struct time_base base; /* of times; set by selection__find_times() */
	struct num_set pid, tid, cpu;
	struct stk_reader *reader; /* borrowed */
	int error; /* the first one of a question below, whose answer was then no */
	struct event_filters *filters;
	struct selected_type *types; /* by index */
	unsigned int nr_types;
	struct {
		const char *comm;
		bool is_idle, answer;
	} last_comms[SELECTED_COMMS];
};

struct opt;
struct reading;
struct strbuf;

/* For rows of options: into is a command's struct, whose first member is a struct reading. */
int selection__take_event(void *into, const struct opt *o, const char *arg);
int selection__take_filter(void *into, const struct opt *o, const char *arg);
int selection__take_time(void *into, const struct opt *o, const char *arg);
int selection__take_comm(void *into, const struct opt *o, const char *arg);

/* After the command line was parsed. */
void selection__complete(struct selection *sel);
/* names is borrowed.  -ENOMEM. */
int selection__start(struct selection *sel, struct stk_reader *r,
		     const struct event_filter_opts *names);
/*
 * At the first event: finds the times that refer to the recording, whose paths are needed to read
 * it to its end for percentages.  CMD_OK, or CMD_FAILURE after a message.
 */
int selection__find_times(struct selection *sel, const char *const *paths, unsigned int nr_paths,
			  uint64_t first_ts);
/* Appends " time 12.500000 to 13.000000" for these times, several with commas. */
void selection__put_times(const struct selection *sel, struct strbuf *b);
void selection__clear(struct selection *sel);
/* Whether a recording is a file, which can be read ahead; "-" is standard input. */
bool selection__is_file(const char *path);

/*
 * The questions are answered with no if that fails, and selection.error is set: reading then ends
 * with it.
 */
/* Keeps a negative errno as the error; whether the answer is yes. */
bool selection__keep(struct selection *sel, int answer);
/* Whether the event is selected by all options, or by -e and --filter alone. */
bool selection__has(struct selection *sel, const struct stk_event *e);
bool selection__has_event(struct selection *sel, const struct stk_event *e);
/* Whether -e selects events of this type; without it, all are. */
bool selection__has_type(struct selection *sel, const struct stk_event_type *t);
/* Whether it may be selected: by all options but --time, --cpu and --filter. */
bool selection__may_have(struct selection *sel, const struct stk_event *e);
/*
 * The time from the first selected one to the last, which may have gaps; false: not all are known
 * yet.
 */
bool selection__times(const struct selection *sel, uint64_t *ret_from, uint64_t *ret_to);
/* The other options, for what is not an event. */
bool selection__has_time(const struct selection *sel, uint64_t from, uint64_t to); /* overlaps */
bool selection__has_comm(struct selection *sel, const char *comm, bool is_idle);
bool selection__has_task(const struct selection *sel, uint32_t pid, uint32_t tid);

#endif /* UI_SELECTION_H */
