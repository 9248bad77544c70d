/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a recording's events come from: BPF programs, or ftrace.  The recorder drives either the
 * same way; what it hands in are events, tasks, stacks and what is needed to read them.
 */
#ifndef RECORD_BACKEND_H
#define RECORD_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce-counters.h"
#include "target.h"

struct recorder_opts;
struct stk_writer;

struct backend_stats {
	uint64_t events; /* handed to the writer */
	uint64_t fullest; /* bytes found in the fullest ring by the last run */
	uint64_t horizon; /* the last run left events from this time on; UINT64_MAX: none */
	uint64_t unresolved; /* stack ids the map did not know: a fault of ours if not 0 */
};

struct backend_costs {
	uint64_t load_ns, attach_ns;
	uint64_t map_bytes; /* kernel memory of the maps, rings included */
	uint64_t prog_bytes; /* of the programs' code */
	uint32_t verified; /* instructions the verifier looked at */
	bool irq_flag; /* this kernel tells whether interrupts are off */
};

struct backend {
	const struct backend_ops *ops;
	struct target_selection selection; /* filled in by open() */
};

struct backend_ops {
	/* Everything is set up, but no event is recorded yet. */
	int (*open)(const struct recorder_opts *opts, struct backend **ret_backend);
	/* Its traces in the kernel go, too.  NULL is taken. */
	void (*free)(struct backend *b);
	unsigned int (*nr_cpus)(const struct backend *b);
	uint64_t (*ring_size)(const struct backend *b); /* bytes of a CPU's */
	/* The writer, borrowed, is there from now on; it knows the event types. */
	int (*set_writer)(struct backend *b, struct stk_writer *w);
	/* From now on events are recorded. */
	int (*arm)(struct backend *b);
	/* None is any more, and those under way are in their rings. */
	int (*disarm)(struct backend *b);
	/*
	 * What happened so far, rows of STK_NR_COUNTERS by event: to be read before drain(), and
	 * add_ends() after it, so that what is called recorded is in the file.
	 */
	int (*counters)(struct backend *b, uint64_t (*ret_counters)[STK_NR_COUNTERS]);
	void (*add_ends)(struct backend *b, uint64_t (*counters)[STK_NR_COUNTERS]);
	/* Empties the rings into the writer; last: disarmed, nothing more will come. */
	int (*drain)(struct backend *b, bool last);
	/*
	 * Hands what was lost since the last call to the writer, after drain(); counted: counters()
	 * was called since, too.
	 */
	int (*losses)(struct backend *b, bool counted);
	void (*stats)(const struct backend *b, struct backend_stats *ret_stats);
	void (*end_round)(struct backend *b);
	/* Readable when there is something that does not wait for the next drain(); -1: never. */
	int (*news_fd)(const struct backend *b);
	int (*take_news)(struct backend *b);
	/* All events are in the file: symbols, and what is to be said at the end. */
	int (*finish)(struct backend *b);
	void (*costs)(const struct backend *b, struct backend_costs *ret_costs);
};

extern const struct backend_ops backend_bpf;
extern const struct backend_ops backend_ftrace;

#endif /* RECORD_BACKEND_H */
