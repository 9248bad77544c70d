/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * libstackonce: read a stackonce recording (.stk).
 *
 * One reader is used by one thread at a time.  Strings and pointers handed out belong to the
 * reader and live until it is freed, unless a comment says otherwise.  Functions that return int
 * return 0 or a positive answer on success and a negative errno on failure; outputs (ret_...) are
 * untouched on failure.  A recording is untrusted input: whatever it holds, calls fail cleanly.  If
 * it demands more memory or work than a recording of its size can need, reading it ends with
 * -ENOBUFS.
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
	STK_WANT_FIELDS = 1u << 0, /* decode event fields (stk_event__record()) */
	STK_WANT_EVENTS = 1u << 1, /* decode events at all; without it stk_reader__next() only
					 * reads the tables and goes straight to the end */
};

struct stk_reader_opts {
	size_t size; /* sizeof(struct stk_reader_opts) */
	unsigned int want; /* STK_WANT_...; 0: events with fields */
	/*
	 * The file may still grow: return -EAGAIN instead of 0 at its end.  If a recorder was
	 * writing it when it was opened, until that ends.
	 */
	bool follow;
	stk_log_fn log; /* NULL: messages are dropped */
	void *log_ctx;
	/* Reads a file as if it ended after this many bytes, though it may grow; 0: all of it. */
	uint64_t end;
};

/*
 * path "-" reads standard input; opts may be NULL.  -EINVAL: not a recording, -ENOTSUP: the format
 * is newer than this library.
 */
int stk_reader__open(const char *path, const struct stk_reader_opts *opts,
		     struct stk_reader **ret_reader);
/* Reads a recording from memory, which is borrowed until the reader is freed. */
int stk_reader__open_mem(const void *data, size_t len, const struct stk_reader_opts *opts,
			 struct stk_reader **ret_reader);
/*
 * Reads several recordings as one, such as segments of one recording, or those of several hosts.
 * Every function below answers for all of them; events come in the order of time.  -EEXIST: a
 * recording is given twice (under any name); otherwise as stk_reader__open() for the one at fault.
 *
 * What is the same gets one number:
 *   - event types of the same name, kind and filter whose formats agree in all but the ID;
 *   - files of one boot with the same device, inode and build id; files of different boots with the
 *     same build id or content id; never a file without an id with one of another boot;
 *   - user frames by file and offset;
 *   - kernel frames of one boot by address.  Of different boots of the same kernel build: those of
 *     the kernel itself by their distance from its start, those of modules and BPF programs by the
 *     function's name, size and module, and the offset.  Of different builds: none, even if the
 *     functions have the same names.  See `kernel` in struct stk_frame;
 *   - stacks whose frames are the same.
 *
 * Recordings of one boot and one clock keep their times.  Otherwise all times are those of the wall
 * clock, in ns since 1970, as exact as the clocks of the hosts were set; a message says so.
 *
 * Metadata are those on which all recordings that have the key agree, except: tasks.start and
 * tasks.end are those of the first and of the last recording of one boot, lists of lines are
 * joined, and a clock that is not the recordings' own is called "wall".  The times in these values
 * are those of the whole.  For all others, ask the members.
 */
int stk_reader__open_many(const char *const *paths, unsigned int nr,
			  const struct stk_reader_opts *opts, struct stk_reader **ret_reader);
void stk_reader__free(struct stk_reader *r);

/* The recordings that it reads, in the order given; 1 unless it was opened for several. */
unsigned int stk_reader__nr_members(const struct stk_reader *r);
/*
 * The reader of one of them, NULL beyond the last: to be asked for its metadata, totals and path,
 * and whether it is live.  Its numbers are not those of the whole.
 */
const struct stk_reader *stk_reader__member(const struct stk_reader *r, unsigned int i);
/* As it was opened; NULL for memory and for several recordings. */
const char *stk_reader__path(const struct stk_reader *r);
/*
 * The number of boots that the recordings are of, as far as their metadata say; one without a boot
 * id counts as another boot.  Equal task and process ids of different boots mean different tasks.
 */
unsigned int stk_reader__nr_boots(const struct stk_reader *r);

/* ---- events, in time order ------------------------------------------------------------------- */

/*
 * Returns 1 and the next event in *ret_event, which is valid until the next call; 0 at the end;
 * -EAGAIN if `follow` is set and there is no new event yet; another negative errno if the file is
 * damaged (all events before the damage have been returned) or demands too much (-ENOBUFS).
 */
int stk_reader__next(struct stk_reader *r, const struct stk_event **ret_event);

/*
 * The same, for those who count: events of a block of the file that differ only in time and fields
 * are returned once, with their number in *ret_count (at least 1).  The sums by CPU, task, type,
 * stack, flags, preempt count and marks are those of stk_reader__next() without STK_WANT_FIELDS, at
 * a fraction of its cost.  Events of which a time decides something are returned one by one: late
 * events, user stacks in replaced code, and the ends of a selected time.
 *
 * What is returned once for several events has the time of the first event of its block, so times
 * neither ascend nor say which events are neighbours.  There are no fields: stk_event__record()
 * returns NULL.  A reader delivers either events or counts: the call for the other returns -EINVAL.
 *
 * Events of several recordings are returned one by one, in time order.
 */
int stk_reader__next_counted(struct stk_reader *r, const struct stk_event **ret_event,
			     uint64_t *ret_count);

uint64_t stk_event__ts(const struct stk_event *e); /* ns of the recording's clock */
unsigned int stk_event__cpu(const struct stk_event *e);
uint32_t stk_event__tid(const struct stk_event *e); /* kernel's pid: the thread */
uint32_t stk_event__pid(const struct stk_event *e); /* kernel's tgid: the process */
const char *stk_event__comm(const struct stk_event *e); /* may hold any bytes but NUL */
/* The host's name in the recording that the event is from, else the path of that recording. */
const char *stk_event__host(const struct stk_event *e);
const struct stk_event_type *stk_event__type(const struct stk_event *e);
uint32_t stk_event__kstack(const struct stk_event *e); /* number of the kernel stack, 0: none */
/* The number of the user stack, 0: none; it may be a new one, where generated code was replaced. */
uint32_t stk_event__ustack(const struct stk_event *e);

unsigned int stk_event__marks(const struct stk_event *e); /* STK_MARK_... */

/* ftrace's common_flags and common_preempt_count, as in the kernel's struct trace_entry. */
unsigned int stk_event__flags(const struct stk_event *e);
unsigned int stk_event__preempt_count(const struct stk_event *e);

/*
 * The record in the layout that the event's tracefs `format` file describes; its common fields are
 * filled in from the getters above.  Valid until the next call of stk_reader__next().  *ret_len may
 * be less than the format demands if the event is marked STK_MARK_NO_FIELDS or STK_MARK_CUT.
 */
const void *stk_event__record(const struct stk_event *e, size_t *ret_len);

/*
 * Which event of its recording it is: its block, counted from 0 in the order of the file, and its
 * row there.  They are the same in every reading of the file with STK_WANT_FIELDS, whatever is
 * selected, and no other event of the recording has both.
 */
uint64_t stk_event__block(const struct stk_event *e);
uint32_t stk_event__row(const struct stk_event *e);

/* ---- selection ------------------------------------------------------------------------------- */

struct stk_select {
	size_t size; /* sizeof(struct stk_select) */
	uint64_t from, to; /* ns of the recording's clock, both included; UINT64_MAX: to the end */
	bool (*cpu)(void *ctx, uint32_t cpu); /* NULL: events of all CPUs */
	/*
	 * Called once for all events of a block of the file that are alike; their times and fields
	 * are unknown, and so is their user stack if its code was replaced.  NULL: all events.
	 */
	bool (*event)(void *ctx, const struct stk_event *e);
	void *ctx;
};

/*
 * Only the events within these times for which both functions return true are returned.  What the
 * header of a block excludes is not read, and events that are not selected are not decoded where
 * that can be avoided, so damage there stays unnoticed.  Everything else is as without a selection:
 * losses, the tables, and totals.events, which includes the events left out.  But totals.late is of
 * the returned events, and stk_reader__may_miss() takes the events without fields outside the
 * selected times and CPUs for complete: one who pairs events of tasks lets `event` judge the CPU.
 * To be called before the first event is read, else -EINVAL.
 *
 * Several recordings are read as without a selection, which is applied to each event: all damage is
 * noticed, and stk_reader__may_miss() knows of all events without fields.
 */
int stk_reader__select(struct stk_reader *r, const struct stk_select *select);

/* ---- missing events -------------------------------------------------------------------------- */

#define STK_ANY_CPU UINT32_MAX
#define STK_ANY_TASK UINT32_MAX

/*
 * Events that happened and are not in the recording: `count` events of a type on a CPU, all of them
 * between first_ts and last_ts.  The tasks that they belonged to are unknown.  Events lost at the
 * moment of arming or disarming precede or follow all other events and are not reported here.
 *
 * If the type is STK_KIND_SAMPLE and the CPU any, samples were not taken: the timer did not fire in
 * time, or other perf events used the counter.
 */
struct stk_loss {
	const struct stk_event_type *type; /* NULL: any type */
	uint32_t cpu; /* STK_ANY_CPU: any CPU */
	uint64_t first_ts, last_ts; /* ns of the recording's clock; last UINT64_MAX: to the end */
	uint64_t count; /* 0: unknown */
};

/*
 * Returns 1 and the next loss with first_ts <= `until`, or 0 if there is none or none is known yet.
 * Losses are returned once, in the order of first_ts.  A caller that passes the time of each event
 * gets every loss before the first event that follows its start.  UINT64_MAX returns all losses
 * that are left.  -ENOBUFS as stk_reader__next().
 */
int stk_reader__next_loss(struct stk_reader *r, uint64_t until, struct stk_loss *ret_loss);

struct stk_span {
	const struct stk_event_type *type; /* NULL: any type */
	uint32_t cpu; /* or STK_ANY_CPU */
	uint32_t tid; /* thread in which the event would have happened, or STK_ANY_TASK */
	bool fields; /* events without fields (STK_MARK_NO_FIELDS) count as missing */
	uint64_t from, to; /* ns, both included */
};

/*
 * Whether an event that matches the span may have happened without having been returned in its
 * place: it was lost, was in a block that cannot be read, or arrived late.  False is certain: no
 * event is missing.  Every analysis has to call this before it treats two events as neighbours, and
 * not before the event at `to` has been returned.
 *
 * The task of a lost event is unknown and tasks migrate, so a tid narrows the query only for events
 * without fields; a cpu narrows it for lost events, too.  If a recording was cut short, the losses
 * of its last two rounds are not in it, so any event may be missing there.  The same applies to
 * recordings older than format 1.2 after their last accounting and, if they are read from a pipe or
 * grow, until that accounting has been read.
 *
 * Of several recordings of one boot, any event of a type may be missing when none that has this
 * type was being recorded.  Where one says that it continues another (metadata, "continues"),
 * nothing is missing between the two.
 */
bool stk_reader__may_miss(struct stk_reader *r, const struct stk_span *span);

/* ---- event types and metadata ---------------------------------------------------------------- */

enum stk_event_kind {
	STK_KIND_TRACEPOINT = 0,
	STK_KIND_SYSCALL = 1, /* syscalls:sys_enter_X or sys_exit_X */
	STK_KIND_SAMPLE = 2, /* timer sample */
	STK_KIND_FUNCTION = 3, /* a kernel function: f:NAME (entry), r:NAME (return) */
	STK_KIND_USER_FUNCTION = 4, /* a function of a program: u:PATH:SYMBOL, ur:PATH:SYMBOL */
	STK_KIND_USDT = 5, /* usdt:PATH:PROVIDER:NAME */
	STK_KIND_EMULATED = 6, /* emulated event, made from function probes */
};

unsigned int stk_reader__nr_types(const struct stk_reader *r); /* grows while reading */
const struct stk_event_type *stk_reader__type(const struct stk_reader *r, unsigned int index);
unsigned int stk_event_type__index(const struct stk_event_type *t);
enum stk_event_kind stk_event_type__kind(const struct stk_event_type *t);
const char *stk_event_type__system(const struct stk_event_type *t);
const char *stk_event_type__name(const struct stk_event_type *t);
const char *stk_event_type__filter(const struct stk_event_type *t); /* "": no filter */
const char *stk_event_type__format(const struct stk_event_type *t); /* tracefs `format` text */

/* Metadata by key (docs/stk-format.5 lists the keys); NULL: the recording does not have it. */
const char *stk_reader__meta(const struct stk_reader *r, const char *key);
unsigned int stk_reader__nr_meta(const struct stk_reader *r);
void stk_reader__meta_at(const struct stk_reader *r, unsigned int i, const char **ret_key,
			 const char **ret_value);

const char *stk_counter_name(enum stk_counter c); /* "happened", "lost_ring", ... */

/* The counter of an event type in the last accounting read so far; 0: the file has none. */
uint64_t stk_reader__counter(const struct stk_reader *r, const struct stk_event_type *t,
			     enum stk_counter c);

struct stk_totals {
	uint64_t events; /* events returned or skipped so far */
	uint64_t stacks; /* stack numbers known so far */
	uint64_t duplicates; /* of these, aliases of another number (imports only) */
	uint64_t nodes; /* caller tree nodes kept */
	uint64_t bytes; /* file bytes read so far */
	uint64_t event_bytes; /* of these, in event blocks */
	uint64_t first_ts, last_ts; /* of the events, from block headers; 0, 0: no events */
	uint64_t start_wall_ns; /* wall clock (ns since 1970) at the start of the file */
	uint64_t last_wall_ns; /* wall clock at the end of the last round; 0: no round */
	uint64_t late; /* events marked STK_MARK_LATE */
	uint64_t bad_blocks; /* blocks skipped because of a checksum or bad content */
	bool clean_end; /* the recorder finished the file */
};
void stk_reader__totals(const struct stk_reader *r, struct stk_totals *ret_totals);

/*
 * Whether a recorder is writing the file now, which holds a lock (F_OFD_SETLK) until it exits.
 * This takes no lock and does not block.  A recording that ends just after the reader has reached
 * its end is no longer live, so call this before reading, too.
 */
bool stk_reader__is_live(const struct stk_reader *r);

/*
 * Charges memory and work to the budget of the recording, for analyses whose needs grow with the
 * recording: bytes (negative to return them) and steps of work of some ns each.  -ENOBUFS: the
 * recording demands more than its size can need; nothing was taken, and the analysis should end.
 */
int stk_reader__charge(struct stk_reader *r, int64_t memory, uint64_t work);

/* ---- stacks and symbols ---------------------------------------------------------------------- */

const char *stk_stack_end_name(enum stk_stack_end end); /* "complete", "truncated", ... */

struct stk_stack {
	uint32_t number; /* 1 .. nr_stacks, as in events */
	uint32_t id; /* to display: the number, or the imported id */
	uint32_t alias_of; /* number of the first stack with the same frames, or its own */
	uint32_t depth; /* frames, markers not counted */
	enum stk_stack_end end;
	uint32_t generation; /* of the stack map in which it was first seen */
	uint64_t refs; /* as stored in the file (imports); 0: count the events */
};
uint32_t stk_reader__nr_stacks(const struct stk_reader *r);
int stk_reader__stack(const struct stk_reader *r, uint32_t number, struct stk_stack *ret_stack);

enum stk_frame_kind { STK_FRAME_KERNEL = 0, STK_FRAME_USER = 1, STK_FRAME_UNKNOWN = 2 };

struct stk_frame {
	enum stk_frame_kind kind;
	uint64_t ip; /* address (kernel) or offset in file (user) */
	bool exact; /* ip is the interrupted instruction, or the function that an interrupted
		     * retpoline was going to; not a return address */
	const char *sym; /* NULL: unknown */
	uint64_t off, size; /* ip - start of sym, size of sym (0: unknown) */
	const char *mod; /* kernel: the module or "bpf", NULL for the kernel itself.  User: the last
			  * component of the file's path, or "[vdso]", "[jit]", "[unknown]" */
	uint32_t file; /* user: number of the file, 0: unknown */
	bool guessed; /* user: found without an unwind table: by frame pointers or by following
		       * generated code */
	uint32_t node; /* caller tree node: the same node means the same frame and callers */
	uint32_t parent; /* node of the caller, 0 at the root */
	uint32_t kernel; /* kernel frames of several recordings: ip is an address in this kernel,
			  * 0 in that of the first recording */
};

/* Stores at most max frames of a stack in ret_frames, innermost first; returns the full depth. */
int stk_reader__frames(struct stk_reader *r, uint32_t number, struct stk_frame *ret_frames,
		       unsigned int max);
#define STK_MAX_DEPTH 512 /* no stack is deeper than this */

/*
 * Resolves a kernel address that is not part of a stack (fields, %ps); sym and mod as above.  Of
 * several recordings, the address is one in the event that was returned last.
 */
int stk_reader__kernel_symbol(struct stk_reader *r, uint64_t addr, struct stk_frame *ret_frame);
/*
 * The place that a kernel address in a field of e means, for those who compare addresses or keep
 * them until other events have been read: of several recordings, equal numbers are the same place,
 * by the rules for kernel frames.  Of one recording it is the address, and what is no address of
 * the kernel stays as it is.  -ENOMEM, -ENOBUFS.
 */
int stk_event__place(const struct stk_event *e, uint64_t addr, uint64_t *ret_place);
/* Resolves a place as stk_reader__kernel_symbol() an address, which is in ret_frame->ip. */
int stk_reader__place_symbol(struct stk_reader *r, uint64_t place, struct stk_frame *ret_frame);

/* ---- files of user frames -------------------------------------------------------------------- */

enum stk_file_kind {
	STK_FILE_FILE = 0,
	STK_FILE_VDSO = 1, /* the kernel's [vdso] */
	STK_FILE_JIT = 2, /* memory of one process that belongs to no file */
};
enum stk_file_id { STK_ID_NONE = 0, STK_ID_BUILD_ID = 1, STK_ID_CONTENT = 2 };

enum { /* stk_file.flags */
       STK_FILE_DELETED = 1u << 0, /* was already unlinked when it was first seen */
       STK_FILE_GONE = 1u << 1, /* could no longer be opened: no build id, no unwind table */
};

struct stk_file {
	uint32_t number; /* 1 .. nr_files, as in frames */
	enum stk_file_kind kind;
	unsigned int flags; /* STK_FILE_... */
	uint32_t hash; /* short identifier, unique in a recording */
	const char *path; /* as seen by the process (the first name); "[vdso]", "[jit]" */
	const char *host_path; /* as seen by the recorder; "" if it was not visible to it */
	uint32_t dev_major, dev_minor; /* as in /proc/PID/maps */
	uint64_t inode;
	uint64_t size, mtime_ns;
	enum stk_file_id id_kind;
	const uint8_t *id; /* build id, or the first 20 bytes of the SHA-256 of the content */
	unsigned int id_len; /* bytes, at most 64 */
	uint32_t pid; /* JIT: the process */
	uint64_t start_ns; /* JIT: start time of the process on the boot clock */
	uint64_t base; /* JIT: address of offset 0 */
	unsigned int nr_names; /* at least 1; more for hard links, bind mounts, renames */
};
uint32_t stk_reader__nr_files(const struct stk_reader *r); /* grows while reading */
int stk_reader__file(const struct stk_reader *r, uint32_t number, struct stk_file *ret_file);
/* Name i of the file (0 .. nr_names - 1); the paths as in struct stk_file. */
int stk_reader__file_name(const struct stk_reader *r, uint32_t number, unsigned int i,
			  const char **ret_path, const char **ret_host_path);

/* A function of a user file, named as in the file's symbol table: not demangled. */
struct stk_user_symbol {
	const char *name; /* the reader copies it; it must be valid until the next call */
	uint64_t start, size; /* offset in the file; size 0: unknown */
};
/*
 * Returns the function at an offset in a file for which the recording has no symbols, 0 or a
 * negative errno.  It is called at most once for each offset and recording.  The offset is that of
 * a byte of the running or calling instruction: for a return address it is one less.  `file` is
 * valid during the call only.
 */
typedef int (*stk_symbolize_fn)(void *ctx, const struct stk_file *file, uint64_t offset,
				struct stk_user_symbol *ret_symbol);
void stk_reader__set_symbolizer(struct stk_reader *r, stk_symbolize_fn fn, void *ctx);
/* Whether the recording itself contains the symbols of this file. */
bool stk_reader__has_symbols(const struct stk_reader *r, uint32_t file);

#ifdef __cplusplus
}
#endif
#endif /* STACKONCE_H */
