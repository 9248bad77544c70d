/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps user addresses to files by /proc/PID/maps, which is read soon after the event: ftrace of a
 * stock kernel records addresses only.
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

/* Mappings that were not found, or were read long ago, are read again. */
void ftrace_maps__refresh(struct ftrace_maps *m);
/* An address of code in a process at a time. */
struct ftrace_address {
	uint32_t tgid;
	uint64_t ts, addr;
	bool is_return; /* a return address: the call before it is looked up */
};
/*
 * The frame (frame.h) of an address, with file 0 if the process has exited or the address is in no
 * known mapping.  Returns 1: the address is in code, 0: it is not, or this is unknown, or a
 * negative errno.
 */
int ftrace_maps__frame(struct ftrace_maps *m, const struct ftrace_address *a, uint64_t *ret_frame);

struct ftrace_maps_stats {
	uint64_t reads; /* of /proc/PID/maps */
	uint64_t gone; /* processes that had exited before their maps could be read */
};
void ftrace_maps__stats(const struct ftrace_maps *m, struct ftrace_maps_stats *ret_stats);

#endif /* RECORD_FTRACE_MAPS_H */
