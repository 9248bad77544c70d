/* SPDX-License-Identifier: GPL-2.0-only */
/* The user frames of a recording, and their symbols. */
#ifndef RECORD_USER_FRAMES_H
#define RECORD_USER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "index.h"

struct file_map;
struct stk_writer;

/* A set of frames as in frame.h, with file numbers of the recording; all zero: empty. */
struct user_frames {
	uint64_t *v;
	uint32_t nr, cap;
	struct index index;
	uint64_t seed; /* of the hashes: programs choose their addresses */
	bool is_full;
};

#define USER_FRAMES_MAX (1u << 22) /* beyond that frames are not added: warned, once */

int user_frames__add(struct user_frames *u, uint64_t frame);
void user_frames__clear(struct user_frames *u);

/*
 * Writes the symbols of the functions that contain the frames.  Empties the set.  to_clock: how
 * far the recording's time is ahead of CLOCK_MONOTONIC, in ns.
 */
int user_frames__write_symbols(struct user_frames *u, const struct file_map *m, int64_t to_clock,
			       struct stk_writer *w);

#endif /* RECORD_USER_FRAMES_H */
