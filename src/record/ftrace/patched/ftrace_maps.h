/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which file an address of a process belongs to, as /proc/PID/maps says soon after: ftrace on a stock
 * kernel tells addresses only.
 */
#ifndef RECORD_FTRACE_MAPS_H
#define RECORD_FTRACE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct file_map;
struct ftrace_maps;
struct ftrace_tasks;

/* Both are borrowed. */
int ftrace_maps__new(struct file_map *files, struct ftrace_tasks *tasks,
		     struct ftrace_maps **ret_maps);
void ftrace_maps__free(struct ftrace_maps *m);

/* What was not found, or asked long ago, is asked again. */
void ftrace_maps__refresh(struct ftrace_maps *m);
/* An address in a process's code at some time. */
struct ftrace_address {
	uint32_t tgid;
	uint64_t ts, addr;
	bool is_return; /* the call before it counts */
};
/*
 * The frame (frame.h) of an address, of file 0 when its process is gone or nothing is known.  1: it
 * is code, 0: it is not, or nobody knows; or a negative errno.
 */
int ftrace_maps__frame(struct ftrace_maps *m, const struct ftrace_address *a, uint64_t *ret_frame);

struct ftrace_maps_stats {
	uint64_t reads; /* of a process's maps */
	uint64_t gone; /* processes whose maps nobody could read any more */
};
void ftrace_maps__stats(const struct ftrace_maps *m, struct ftrace_maps_stats *ret_stats);

#endif /* RECORD_FTRACE_MAPS_H */
