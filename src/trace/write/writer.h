/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Writes a .stk file.  The writer keeps the tables (types, tasks, caller tree, stacks), collects a
 * round of events per CPU and encodes it when the round ends.  Not thread-safe.
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
	 * Called when a signal interrupts a blocking write, such as to a pipe without a reader.
	 * True makes the write fail with -EINTR.  NULL: always retry.
	 */
	bool (*give_up)(void *ctx);
	void *give_up_ctx;
};

/* Takes ownership of fd, also on failure.  Writes the header at once. */
int stk_writer__new(int fd, const struct stk_writer_opts *opts, struct stk_writer **ret_writer);
/* Frees without writing.  Without stk_writer__finish() the recording counts as torn. */
void stk_writer__free(struct stk_writer *w);

/* A value of more than STK_MAX_META bytes is left out, which is not an error. */
int stk_writer__meta(struct stk_writer *w, const char *key, const char *value);
/* Says in the metadata, as "metadata.left_out", that the value of a key is missing, and why. */
int stk_writer__meta_left_out(struct stk_writer *w, const char *key, const char *why);
/* Returns the event index (>= 0), dense from 0. */
int stk_writer__type(struct stk_writer *w, enum stk_event_kind kind, const char *system,
		     const char *name, const char *filter, const char *format);
/*
 * The same (tid, tgid, comm) gets the same task number unless very many tasks came in between; a
 * number never changes its meaning.  comm: at most len bytes, up to a NUL.
 */
int stk_writer__task(struct stk_writer *w, uint32_t tid, uint32_t tgid, const char *comm,
		     size_t len, uint32_t *ret_task);
/*
 * frames: innermost first, markers included (src/include/frame.h), nr >= 0.  The same frames get
 * the same number while the budget lasts.  -E2BIG: deeper than STK_MAX_DEPTH.
 */
int stk_writer__stack(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
		      uint32_t *ret_number);
/*
 * number was a placeholder for the stack `is`.  Readers look for aliases where the metadata contain
 * "stacks.late".
 */
int stk_writer__stack_alias(struct stk_writer *w, uint32_t number, uint32_t is);
/* An imported stack keeps its id, references and order, and is never merged with another one. */
int stk_writer__stack_imported(struct stk_writer *w, const uint64_t *frames, unsigned int nr,
			       uint32_t id, uint64_t refs, uint32_t *ret_number);
/* Generation of the stack map for the stacks that follow; initially 0. */
int stk_writer__generation(struct stk_writer *w, uint32_t generation);
int stk_writer__symbol(struct stk_writer *w, uint64_t start, uint64_t size, const char *name,
		       const char *module);

/*
 * The file map.  file->number 0 adds a file and returns its number; otherwise the fields of that
 * file are updated, or it gets another name.  hash and nr_names are ignored.  A file must be added
 * before a stack that needs it.
 */
int stk_writer__file(struct stk_writer *w, const struct stk_file *file, uint32_t *ret_number);
/* All symbols of a file; readers take the last one of equal starts. */
int stk_writer__user_symbols(struct stk_writer *w, uint32_t file,
			     const struct stk_user_symbol *symbols, size_t nr);
/* For qsort(): by start, of equal starts the innermost last. */
int stk_user_symbol__compare(const void *a, const void *b);
/*
 * A file may have names without end; that costs its own names only: warns and returns 0 if err says
 * so, otherwise err.
 */
int stk_user_symbol__left_out(const char *what, int err);

/* From ts on, what is at this offset of the file is in another file, at the same offset. */
struct stk_writer_replaced {
	uint32_t file, by;
	uint64_t offset, ts;
};
int stk_writer__replaced(struct stk_writer *w, const struct stk_writer_replaced *r);

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

/* An event that was written, to be written again with another time; opaque. */
struct stk_writer_again {
	uint64_t batch;
	uint32_t tuple, record, record_bytes;
};
/*
 * The event that stk_writer__event() has written last, for this CPU.  false: it is not worth it to
 * keep it, because most records of its type differ.
 */
bool stk_writer__last(const struct stk_writer *w, uint32_t cpu, struct stk_writer_again *ret_again);
/* false: it was not written, as at the end of a block; stk_writer__event() must write it. */
bool stk_writer__again(struct stk_writer *w, uint32_t cpu, const struct stk_writer_again *again,
		       uint64_t ts);

#define STK_WRITER_ANY UINT32_MAX

struct stk_writer_loss {
	uint64_t first_ts, last_ts;
	uint32_t event; /* index, or STK_WRITER_ANY */
	uint32_t cpu; /* or STK_WRITER_ANY */
	uint64_t count; /* 0: unknown */
};
/*
 * Written at the end of the round, ahead of its events.  It must be added before the end of the
 * round that follows the one of first_ts.
 */
int stk_writer__loss(struct stk_writer *w, const struct stk_writer_loss *loss);

/*
 * Bytes that the events of this round need in a reader's memory, which holds two rounds; here they
 * need less.
 */
size_t stk_writer__pending(const struct stk_writer *w);

/*
 * Write out new tables, then the events, then the round marker; one write(2) at most per block
 * group.  end_ts: every event older than this was added already, or is late.  A failed write
 * leaves the file as it was before the failed call where the file can be truncated; the error is
 * sticky, later calls return it.
 */
int stk_writer__end_round(struct stk_writer *w, uint64_t end_ts, uint64_t wall_ns);

/* counters: nr_events rows of STK_NR_COUNTERS. */
int stk_writer__accounting(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
			   unsigned int nr_events);
/*
 * Writes the accounting after a failed write, where the file can be truncated and has room for it.
 * Events that the counters call recorded but that are not in the file are counted as lost because
 * of the failed write.  The sticky error stays; returns the error of this write.
 */
int stk_writer__account_failure(struct stk_writer *w, const uint64_t (*counters)[STK_NR_COUNTERS],
				unsigned int nr_events);
/* Events of this type that have been written. */
uint64_t stk_writer__in_file(const struct stk_writer *w, uint32_t event);
/* exit_status: as in the shell; negative if unknown. */
int stk_writer__finish(struct stk_writer *w, const char *reason, int exit_status);

struct stk_writer_stats {
	uint64_t bytes; /* written */
	uint64_t event_bytes; /* of event blocks, including those of the current round */
	uint64_t events; /* added */
	uint64_t stacks, nodes; /* numbers assigned; beyond the budget a stack may get several */
	uint64_t merged_bytes; /* of memory used by the caller tree */
};
void stk_writer__stats(const struct stk_writer *w, struct stk_writer_stats *ret_stats);

#endif /* TRACE_WRITER_H */
