/* SPDX-License-Identifier: GPL-2.0-only */
/* The loads of `./run bench path`: each makes a known number of events on one CPU. */
#ifndef PATH_LOAD_H
#define PATH_LOAD_H

#include <stdint.h>

#define PATH_LOAD_TASKS 64

struct path_turn;

struct path_load {
	const char *name;
	const char *event; /* SYSTEM:NAME */
	unsigned int tasks; /* that take turns on the CPU */
	/* One task's part, n events. */
	void (*run)(const struct path_turn *turn, uint64_t n);
};

/* How often a load calls a function, on its CPU: the ring of the events is emptied there. */
struct path_pause {
	uint64_t every; /* events */
	void (*call)(void);
};

/* NULL: there is no load of this name. */
const struct path_load *path_load__find(const char *name);

/* Runs the load for n events; returns the CPU time of its tasks per event, in ns. */
double path_load__measure(const struct path_load *l, unsigned int cpu, uint64_t n,
			  const struct path_pause *pause);

#endif /* PATH_LOAD_H */
