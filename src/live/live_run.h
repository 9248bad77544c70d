/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the hottest functions, stacks or pairs of a recording while it grows: as a page that is
 * renewed twice a second and takes keys, or without a terminal as text, once every few seconds.
 */
#ifndef LIVE_RUN_H
#define LIVE_RUN_H

struct pair_query;
struct reading;

struct live_opts {
	unsigned int stacks; /* STACKS_... */
	unsigned int rows; /* functions, stacks or groups shown without a terminal */
	struct pair_query *queries; /* pairs, which are shown first; reading.every must be set */
	unsigned int nr_queries; /* 0: there is no view of pairs */
};

/*
 * Follows the open recording to its end, to a key or to a signal, and leaves the last view on
 * standard output.  Returns an exit code.
 */
int live__run(struct reading *rd, const struct live_opts *opts);

#endif /* LIVE_RUN_H */
