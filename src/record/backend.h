/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A backend is where a recording's events come from: BPF programs or an ftrace instance.  The
 * recorder drives both through the same operations.  A backend writes events, tasks, stacks and the
 * tables that are needed to read them.
 */
#ifndef RECORD_BACKEND_H
#define RECORD_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce-counters.h"
#include "target.h"

struct memory_plan;
struct recorder_opts;
struct stk_writer;

struct backend_stats {
	uint64_t events; /* handed to the writer */
	uint64_t fullest; /* bytes in the fullest ring at the last drain() */
	/* The last drain() left events from this time on in the rings; UINT64_MAX: none. */
	uint64_t horizon;
	uint64_t unresolved; /* stack ids missing from the map: a bug in stackonce if not 0 */
};

struct backend_costs {
	uint64_t load_ns, attach_ns;
	uint64_t map_bytes; /* kernel memory of the maps, rings included */
	uint64_t prog_bytes; /* size of the programs' code */
	uint32_t verified; /* instructions that the verifier processed */
	bool irq_flag; /* programs can read whether interrupts are off */
};

struct backend {
	const struct backend_ops *ops;
	struct target_selection selection; /* filled in by open() */
};

struct backend_ops {
	/* Sets everything up, without recording events yet. */
	int (*open)(const struct recorder_opts *opts, struct backend **ret_backend);
	/* Also removes everything that open() created in the kernel.  Accepts NULL. */
	void (*free)(struct backend *b);
	unsigned int (*nr_cpus)(const struct backend *b);
	uint64_t (*ring_size)(const struct backend *b); /* bytes per CPU */
	const struct memory_plan *(*memory)(const struct backend *b);
	/* w, borrowed, has the event types already. */
	int (*set_writer)(struct backend *b, struct stk_writer *w);
	/* Starts recording. */
	int (*arm)(struct backend *b);
	/* Stops recording; events in flight have reached their rings when it returns. */
	int (*disarm)(struct backend *b);
	/*
	 * The counters so far, a row of STK_NR_COUNTERS by event type.  Call this before drain()
	 * and add_ends() after it, so that every event counted as recorded is in the file.
	 */
	int (*counters)(struct backend *b, uint64_t (*ret_counters)[STK_NR_COUNTERS]);
	void (*add_ends)(struct backend *b, uint64_t (*counters)[STK_NR_COUNTERS]);
	/* Empties the rings into the writer; last: disarmed, no more events follow. */
	int (*drain)(struct backend *b, bool last);
	/*
	 * Writes the losses since the last call.  Call it after drain(); counted: counters() has
	 * been called since the last call, too.
	 */
	int (*losses)(struct backend *b, bool counted);
	void (*stats)(const struct backend *b, struct backend_stats *ret_stats);
	void (*end_round)(struct backend *b);
	/*
	 * Readable when a file event is pending, which cannot wait for the next drain(); -1: never.
	 */
	int (*file_event_fd)(const struct backend *b);
	int (*take_file_events)(struct backend *b);
	/* After the last event has been written: writes symbols, and logs final warnings. */
	int (*finish)(struct backend *b);
	void (*costs)(const struct backend *b, struct backend_costs *ret_costs);
};

extern const struct backend_ops backend_bpf;
extern const struct backend_ops backend_ftrace;

#endif /* RECORD_BACKEND_H */
