/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Write a .stk file.  The writer keeps the tables (types, tasks, caller tree, stacks), collects a
 * round of events per CPU and encodes it when the round ends.  One thread.
 */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce.h"

struct stk_writer;

struct stk_writer_opts {
	unsigned int nr_cpus;
	size_t stack_budget; /* bytes the caller tree may use; beyond it the tree is forgotten
				 * and grown anew: stacks seen before are written in full once
				 * more and the reader merges them.  0: no limit */
	int level; /* zstd level, 0: the default (1) */
	bool fsync; /* fsync after every round */
	/*
	 * Asked when a signal interrupts a write that waits, for a pipe nobody reads: true gives
	 * it up, with -EINTR.  NULL: never.
	 */
	bool (*give_up)(void *ctx);
	void *give_up_ctx;
};

/* Owns fd from here on (also on failure).  The header is written at once. */
int stk_writer__new(int fd, const struct stk_writer_opts *opts, struct stk_writer **ret_writer);
/* Frees; writes nothing.  A file without stk_writer__finish() reads as ended abruptly. */
void stk_writer__free(struct stk_writer *w);

int stk_writer__meta(struct stk_writer *w, const char *key, const char *value);
/* Returns the event index (>= 0), dense from 0. */
int stk_writer__type(struct stk_writer *w, enum stk_event_kind kind, const char *system,
		     const char *name, const char *filter, const char *format);
/*
 * The same (tid, tgid, comm) gives the same task number, until very many tasks came between; a
 * number keeps its meaning.  comm: at most len bytes, up to a NUL.
 */
int stk_writer__task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm,
		     size_t len, uint32_t *ret_task);
/*
 * frames: innermost first, markers included (src/include/frame.h), nr >= 0.  The same frames give
 * the same number while the budget lasts.  -E2BIG: deeper than STK_MAX_DEPTH.
 */
int stk_writer__stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		      uint32_t *ret_number);
/*
 * number was a placeholder, it is the stack `is`.  Readers look for these where the metadata have
 * "stacks.late".
 */
int stk_writer__stack_alias(struct stk_writer *w, uint32_t number, uint32_t is);
/* An imported stack keeps its id, references and order; never merged with another number. */
int stk_writer__stack_imported(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
			       uint32_t id, uint64_t refs, uint32_t *ret_number);
/* Generation of the stack map that stacks come from, from now on; 0 at the start. */
int stk_writer__generation(struct stk_writer *w, uint32_t generation);
int stk_writer__symbol(struct stk_writer *w, uint64_t start, uint64_t size, const char *name,
		       const char *module);

/*
 * The file map.  file->number 0: a new file, *ret_number is its number; else that file again, with
 * what is known of it by now, or with another name.  hash and nr_names are not looked at.  A file
 * must have been handed in before a stack that needs it.
 */
int stk_writer__file(struct stk_writer *w, const struct stk_file *file, uint32_t *ret_number);
/* All symbols of a file; start and size are offsets in the file. */
int stk_writer__user_symbols(struct stk_writer *w, uint32_t file,
			     const struct stk_user_symbol *symbols, size_t nr);

struct stk_writer_event {
	uint64_t ts;
	uint32_t cpu;
	uint32_t event; /* index */
	uint32_t task; /* number */
	uint32_t kstack, ustack; /* numbers */
	uint8_t flags, preempt_count;
	uint16_t marks; /* STK_MARK_... */
	const void *record; /* tracefs layout; bytes 0-7 (common fields) are ignored */
	uint32_t record_len; /* <= STK_MAX_RECORD */
};
/* Copies; written at the end of the round. */
int stk_writer__event(struct stk_writer *w, const struct stk_writer_event *e);

#define STK_WRITER_ANY UINT32_MAX

struct stk_writer_loss {
	uint64_t first_ts, last_ts;
	uint32_t event; /* index, or STK_WRITER_ANY */
	uint32_t cpu; /* or STK_WRITER_ANY */
	uint64_t count; /* 0: unknown */
};
/*
 * Written at the end of the round, ahead of its events.  It must be handed in before the round ends that
 * follows the one of first_ts.
 */
int stk_writer__loss(struct stk_writer *w, const struct stk_writer_loss *loss);

/* Bytes of memory that hold events waiting for the end of the round. */
size_t stk_writer__pending(const struct stk_writer *w);

/*
 * Write out new tables, then the events, then the round marker; one write(2) at most per block
 * group.  end_ts: every event older than this was handed in by now, or is late.
 * A failed write leaves the file as it was before the failed call where the file can be
 * truncated; the error is sticky, later calls return it.
 */
int stk_writer__end_round(struct stk_writer *w, uint64_t end_ts, uint64_t wall_ns);

/* counters: nr_events rows of STK_NR_COUNTERS. */
int stk_writer__accounting(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
			   unsigned int nr_events);
/*
 * After a failed write: the accounting all the same, where the file can be cut back and has room
 * for it.  What counters call recorded and is not in the file is counted as lost for want of
 * writing.  The error stays; returns that of this writing.
 */
int stk_writer__account_failure(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
				unsigned int nr_events);
/* Events of this type that have been written. */
uint64_t stk_writer__in_file(const struct stk_writer *w, uint32_t event);
/* exit_status: what the shell calls so; negative where there is none to tell. */
int stk_writer__finish(struct stk_writer *w, const char *reason, int exit_status);

struct stk_writer_stats {
	uint64_t bytes; /* written */
	uint64_t event_bytes; /* of event blocks, these of the round under way included */
	uint64_t events; /* handed in */
	uint64_t stacks, nodes; /* numbers given out; beyond the budget some of them again */
	uint64_t merged_bytes; /* of memory, in use by the caller tree */
};
void stk_writer__stats(const struct stk_writer *w, struct stk_writer_stats *ret_stats);

#endif /* TRACE_WRITER_H */
