/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record --live: `stackonce report --follow` as a process of its own that reads the growing
 * recording, so that nothing it does delays the recorder.
 */
#ifndef CMD_RECORD_LIVE_H
#define CMD_RECORD_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

struct preset;

struct live_viewer {
	pid_t pid; /* 0: none, or it has ended */
	int go_fd; /* the viewer waits for a byte from here; -1: it has started */
};

/*
 * Forks the viewer of the recording, which waits.  It shows the pairs of these presets, if they
 * have any.  To be called before the recorder takes memory, signals and priority.  -errno after a
 * message.
 */
int live_viewer__new(const char *path, const struct preset *const *list, unsigned int nr,
		     struct live_viewer *ret_viewer);
/* As recorder_opts.status: starts the viewer once the recording has its name. */
void live_viewer__status(void *viewer, const char *line);
/* Waits until the viewer has shown the end; without a recording it only ends it. */
void live_viewer__finish(struct live_viewer *v, bool recorded);

#endif /* CMD_RECORD_LIVE_H */
