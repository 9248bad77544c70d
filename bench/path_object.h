/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads path.bpf.c for one event type, with the maps and settings that the recorder gives it. */
#ifndef PATH_OBJECT_H
#define PATH_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct kwalk;
struct path_object;
struct rec_events;

struct path_setup {
	const char *file; /* of the object */
	const char *const *programs; /* names, NULL at the end */
	bool kernel_stacks;
	uint64_t ring; /* bytes for each CPU */
	struct rec_events *events; /* one event type */
	struct kwalk *kwalk;
};

/* Exits with a message if anything fails. */
struct path_object *path_object__load(const struct path_setup *setup);

/* In the place of a program: the front of the event, if its record can be filled by programs. */
#define PATH_FRONT "(front)"

/* Attach a program of the object to its event, and detach all. */
void path_object__attach(struct path_object *o, const char *program);
void path_object__detach(struct path_object *o);

/* The program that a front goes on with. */
void path_object__set_end(struct path_object *o, const char *program);

/* Runs a program of the object on this CPU, without an event; returns its result. */
int path_object__run(const struct path_object *o, const char *program);

/* Number and ns of the runs of the attached programs, while such statistics are enabled. */
void path_object__runs(const struct path_object *o, uint64_t *ret_runs, uint64_t *ret_ns);

/* The counters of the event on a CPU. */
struct event_counts *path_object__counts(const struct path_object *o, unsigned int cpu);

/* Discards the events in a CPU's ring; returns their bytes. */
uint64_t path_object__empty(const struct path_object *o, unsigned int cpu);

#endif /* PATH_OBJECT_H */
