/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * libstackonce: read a stackonce recording (.stk).
 *
 * One reader is used by one thread at a time.  Strings and pointers handed out belong to the
 * reader and live until it is freed, unless a comment says otherwise.  Functions that return int
 * return 0 or a positive answer on success and a negative errno on failure; outputs (ret_...) are
 * untouched on failure.  A recording is untrusted input: whatever it holds, calls fail cleanly, and
 * one that asks for more memory or work than its size can need is not read on: -ENOBUFS.
 *
 * The file format itself is documented in stk-format(5).
 */
#ifndef STACKONCE_H
#define STACKONCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stackonce-counters.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stk_reader;
struct stk_event;
struct stk_event_type;

/* ---- messages -------------------------------------------------------------------------------- */

enum stk_log_level { STK_LOG_ERROR = 0, STK_LOG_WARN = 1, STK_LOG_DEBUG = 2 };

/* Called for every message; msg is one line without a newline and lives only during the call. */
typedef void (*stk_log_fn)(void *ctx, enum stk_log_level level, const char *msg);

/* ---- open and close -------------------------------------------------------------------------- */

enum {
	STK_WANT_FIELDS = 1u << 0, /* decode event fields (stk_event__record) */
	STK_WANT_EVENTS = 1u << 1, /* decode events at all; without it stk_reader__next only
					 * walks the tables and goes straight to the end */
};

struct stk_reader_opts {
	size_t size; /* sizeof(struct stk_reader_opts) */
	unsigned int want; /* STK_WANT_..., 0 means events with fields */
	bool follow; /* the file is still growing: -EAGAIN instead of the end */
	stk_log_fn log; /* may be NULL: messages are dropped */
	void *log_ctx;
};

/* path "-" reads standard input; opts may be NULL.  -EINVAL: not a recording, -ENOTSUP: newer. */
int stk_reader__open(const char *path, const struct stk_reader_opts *opts,
		     struct stk_reader **ret_reader);
/* The same from memory, which is borrowed until the reader is freed. */
int stk_reader__open_mem(const void *data, size_t len, const struct stk_reader_opts *opts,
			 struct stk_reader **ret_reader);
void stk_reader__free(struct stk_reader *r);

/* ---- events, in time order ------------------------------------------------------------------- */

/*
 * The next event: 1 and *ret_event (valid until the next call), 0 at the end, -EAGAIN when
 * following and nothing new is there yet, another negative errno where the file is damaged
 * (everything before the damage has been handed out) or asks for too much (-ENOBUFS).
 */
int stk_reader__next(struct stk_reader *r, const struct stk_event **ret_event);

uint64_t stk_event__ts(const struct stk_event *e); /* ns of the recording's clock */
unsigned int stk_event__cpu(const struct stk_event *e);
uint32_t stk_event__tid(const struct stk_event *e); /* kernel's pid: the thread */
uint32_t stk_event__pid(const struct stk_event *e); /* kernel's tgid: the process */
const char *stk_event__comm(const struct stk_event *e); /* may hold any bytes but NUL */
const struct stk_event_type *stk_event__type(const struct stk_event *e);
uint32_t stk_event__kstack(const struct stk_event *e); /* stack number, 0: none */
uint32_t stk_event__ustack(const struct stk_event *e);

unsigned int stk_event__marks(const struct stk_event *e); /* STK_MARK_... */

/* ftrace's common_flags and common_preempt_count, as in the kernel's struct trace_entry. */
unsigned int stk_event__flags(const struct stk_event *e);
unsigned int stk_event__preempt_count(const struct stk_event *e);

/*
 * The record as the event's tracefs `format` describes it, common fields included (filled in from
 * the getters above).  Valid until the next stk_reader__next; *ret_len may be shorter than the
 * format says when the event is marked NO_FIELDS or CUT.
 */
const void *stk_event__record(const struct stk_event *e, size_t *ret_len);

/* ---- what may be missing --------------------------------------------------------------------- */

#define STK_ANY_CPU UINT32_MAX
#define STK_ANY_TASK UINT32_MAX

/*
 * count events of a type that happened on a CPU, none before first_ts and none after last_ts, and are not
 * in the recording.  Which tasks they belonged to is unknown.  What was lost in the instant of switching
 * recording on or off lies outside of all events and is no loss here.
 */
struct stk_loss {
	const struct stk_event_type *type; /* NULL: of any type */
	uint32_t cpu; /* STK_ANY_CPU: of any */
	uint64_t first_ts, last_ts; /* ns of the recording's clock; last UINT64_MAX: to the end */
	uint64_t count; /* 0: unknown */
};

/*
 * The next loss that began at `until` or before, in the order of first_ts, each once: 1, or 0: there is
 * none, or none is known yet.  Whoever asks with the time of every event it gets has each loss ahead of
 * the first event that follows its start.  UINT64_MAX: all that are left.
 */
int stk_reader__next_loss(struct stk_reader *r, uint64_t until, struct stk_loss *ret_loss);

struct stk_span {
	const struct stk_event_type *type; /* NULL: any */
	uint32_t cpu; /* or STK_ANY_CPU */
	uint32_t tid; /* thread that the event would have run in, or STK_ANY_TASK */
	bool fields; /* an event that came without its fields (STK_MARK_NO_FIELDS) counts as missing */
	uint64_t from, to; /* ns, both included */
};

/*
 * Whether an event of this kind may have happened in this time without having been handed out in its
 * place: it was lost, was in a block that cannot be read, or came late.  The one question of every
 * analysis before it takes two events for neighbours; to be asked when the event at `to` has been handed
 * out, or later.  False is certain: nothing is missing there.  The task of a lost event is unknown and tasks
 * move, so that a tid narrows the question only for events without fields, a cpu narrows it for both.
 * Where a recording is cut short, what was lost in its last two rounds is not in it: there anything may be
 * missing, and so it may in one older than format 1.2 after its last accounting, and, from a pipe, until that
 * accounting has been read.
 */
bool stk_reader__may_miss(struct stk_reader *r, const struct stk_span *span);

/* ---- what was recorded ----------------------------------------------------------------------- */

enum stk_event_kind {
	STK_KIND_TRACEPOINT = 0,
	STK_KIND_SYSCALL = 1, /* syscalls:sys_enter_X or sys_exit_X */
	STK_KIND_SAMPLE = 2, /* timer sample */
	STK_KIND_FUNCTION = 3, /* a kernel function: f:NAME its entry, r:NAME its return */
	STK_KIND_USER_FUNCTION = 4, /* a program's: u:PATH:SYMBOL, ur:PATH:SYMBOL */
	STK_KIND_USDT = 5, /* usdt:PATH:PROVIDER:NAME */
	STK_KIND_SYNTHETIC = 6, /* a tracepoint that the kernel lacks, made of function probes */
};

unsigned int stk_reader__nr_types(const struct stk_reader *r); /* grows while reading */
const struct stk_event_type *stk_reader__type(const struct stk_reader *r, unsigned int index);
unsigned int stk_event_type__index(const struct stk_event_type *t);
enum stk_event_kind stk_event_type__kind(const struct stk_event_type *t);
const char *stk_event_type__system(const struct stk_event_type *t);
const char *stk_event_type__name(const struct stk_event_type *t);
const char *stk_event_type__filter(const struct stk_event_type *t); /* "" when none */
const char *stk_event_type__format(const struct stk_event_type *t); /* tracefs `format` text */

/* Metadata by key (docs/stk-format.5 lists them); NULL when the recording does not have it. */
const char *stk_reader__meta(const struct stk_reader *r, const char *key);
unsigned int stk_reader__nr_meta(const struct stk_reader *r);
void stk_reader__meta_at(const struct stk_reader *r, unsigned int i, const char **ret_key,
			 const char **ret_value);

const char *stk_counter_name(enum stk_counter c); /* "happened", "lost_ring", ... */

/* Last accounting seen so far for one event type; 0 where the file has none. */
uint64_t stk_reader__counter(const struct stk_reader *r, const struct stk_event_type *t,
			     enum stk_counter c);

struct stk_totals {
	uint64_t events; /* events handed out or skipped so far */
	uint64_t stacks; /* stack numbers known so far */
	uint64_t duplicates; /* of these, aliases of another number (imports only) */
	uint64_t nodes; /* caller tree nodes kept */
	uint64_t bytes; /* file bytes read so far */
	uint64_t event_bytes; /* of these, in event blocks */
	uint64_t first_ts, last_ts; /* of the events, from block headers; 0, 0: none */
	uint64_t start_wall_ns; /* wall clock (ns since 1970) when the file was begun */
	uint64_t last_wall_ns; /* and at the end of the last round; 0: none */
	uint64_t late; /* events marked STK_MARK_LATE */
	uint64_t bad_blocks; /* blocks skipped because of a checksum or bad content */
	bool clean_end; /* the recorder finished the file */
};
void stk_reader__totals(const struct stk_reader *r, struct stk_totals *ret_totals);

/*
 * Whether a recorder is writing the file now: it holds a lock (F_OFD_SETLK) for as long as it lives.
 * The question takes no lock and does not wait.  A recording that ends right after the reader has
 * come to its end is not live any more: ask before reading, too.
 */
bool stk_reader__is_live(const struct stk_reader *r);

/*
 * Analyses that keep what a recording holds, or walk it again and again, take that from the recording's
 * budget: bytes, negative where they are given back, and steps of work, some ns each.  -ENOBUFS: it asks
 * for more than its size can need; nothing was taken, and the analysis should end.
 */
int stk_reader__charge(struct stk_reader *r, int64_t memory, uint64_t work);

/* ---- stacks and symbols ---------------------------------------------------------------------- */

const char *stk_stack_end_name(enum stk_stack_end end); /* "complete", "truncated", ... */

struct stk_stack {
	uint32_t number; /* 1 .. nr_stacks, what events carry */
	uint32_t id; /* what people see: number, or the imported id */
	uint32_t alias_of; /* number of the first stack with the same frames, or itself */
	uint32_t depth; /* frames, markers not counted */
	enum stk_stack_end end;
	uint32_t generation; /* of the stack map it was first seen in */
	uint64_t refs; /* as stored in the file (imports); 0: count the events */
};
uint32_t stk_reader__nr_stacks(const struct stk_reader *r);
int stk_reader__stack(const struct stk_reader *r, uint32_t number, struct stk_stack *ret_stack);

enum stk_frame_kind { STK_FRAME_KERNEL = 0, STK_FRAME_USER = 1, STK_FRAME_UNKNOWN = 2 };

struct stk_frame {
	enum stk_frame_kind kind;
	uint64_t ip; /* address (kernel) or offset in file (user) */
	bool exact; /* ip was interrupted there; else it is a return address */
	const char *sym; /* NULL when unknown */
	uint64_t off, size; /* ip - start of sym, size of sym (0 unknown) */
	const char *mod; /* kernel module or "bpf"; NULL for the kernel itself.  Of a user frame
			  * the last part of the file's path, or "[vdso]", "[jit]", "[unknown]" */
	uint32_t file; /* user: number of the file, 0 unknown */
	bool guessed; /* user: found by frame pointers, not by an unwind table */
	uint32_t node; /* caller tree node: same node, same frame and callers */
	uint32_t parent; /* node of the caller, 0 at the root */
};

/* Frames of a stack, innermost first: at most max into ret_frames; returns the full depth. */
int stk_reader__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames,
		       unsigned int max);
#define STK_MAX_DEPTH 512 /* no stack is deeper than this */

/* A kernel address that is not part of a stack (fields, %ps); same rules for sym and mod. */
int stk_reader__kernel_symbol(struct stk_reader *r, uint64_t addr, struct stk_frame *ret_frame);

/* ---- files of user frames -------------------------------------------------------------------- */

enum stk_file_kind {
	STK_FILE_FILE = 0,
	STK_FILE_VDSO = 1, /* the kernel's [vdso] */
	STK_FILE_JIT = 2, /* memory of one process that belongs to no file */
};
enum stk_file_id { STK_ID_NONE = 0, STK_ID_BUILD_ID = 1, STK_ID_CONTENT = 2 };

enum { /* stk_file.flags */
       STK_FILE_DELETED = 1u << 0, /* had been unlinked when it was first seen */
       STK_FILE_GONE = 1u << 1, /* could not be opened any more: no build id, no unwind table */
};

struct stk_file {
	uint32_t number; /* 1 .. nr_files, what frames carry */
	enum stk_file_kind kind;
	unsigned int flags; /* STK_FILE_... */
	uint32_t hash; /* short identifier, no two files of a recording have the same */
	const char *path; /* as the process saw it (the first name); "[vdso]", "[jit]" */
	const char *host_path; /* as the recorder saw it; "" where it could not */
	uint32_t dev_major, dev_minor; /* as in /proc/PID/maps */
	uint64_t inode;
	uint64_t size, mtime_ns;
	enum stk_file_id id_kind;
	const uint8_t *id; /* build id, or the first 20 bytes of the SHA-256 of the content */
	unsigned int id_len; /* bytes, at most 64 */
	uint32_t pid; /* JIT: the process */
	uint64_t start_ns; /* JIT: when that was started, on the boot clock */
	uint64_t base; /* JIT: address of offset 0 */
	unsigned int nr_names; /* 1 and more: hard links, bind mounts, renames */
};
uint32_t stk_reader__nr_files(const struct stk_reader *r); /* grows while reading */
int stk_reader__file(const struct stk_reader *r, uint32_t number, struct stk_file *ret_file);
/* Name i of the file (0 .. nr_names - 1); the paths as in struct stk_file. */
int stk_reader__file_name(const struct stk_reader *r, uint32_t number, unsigned int i,
			  const char **ret_path, const char **ret_host_path);

/* A function of a user file, as the file's symbol table has it: not demangled. */
struct stk_user_symbol {
	const char *name; /* lives until the next call, for what it takes to copy it */
	uint64_t start, size; /* offset in the file; size 0 unknown */
};
/*
 * Asked for the function at an offset of a file for which the recording holds no symbols, at most
 * once for each; 0 or a negative errno.  offset: of a byte of the code that runs or called, which
 * for return addresses is the one before.  The file lives as long as the call.
 */
typedef int (*stk_symbolize_fn)(void *ctx, const struct stk_file *file, uint64_t offset,
				struct stk_user_symbol *ret_symbol);
void stk_reader__set_symbolizer(struct stk_reader *r, stk_symbolize_fn fn, void *ctx);
/* Whether the recording itself holds the symbols of this file. */
bool stk_reader__has_symbols(const struct stk_reader *r, uint32_t file);

#ifdef __cplusplus
}
#endif
#endif /* STACKONCE_H */
