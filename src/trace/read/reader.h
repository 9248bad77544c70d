/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Internals of the reader.
 *
 *   input ─► blocks (reader.c) ─┬─► tables (read_tables.c) ─► stacks, symbols (resolve.c)
 *                               └─► event blocks, kept packed until they are due (merge.c),
 *                                   then decoded (decode.c) and delivered in time order
 */
#ifndef TRACE_READER_H
#define TRACE_READER_H

#include <zstd.h>

#include "arena.h"
#include "missing.h"
#include "read_input.h"
#include "stackonce.h"
#include "trace/budget.h"
#include "trace/bytes.h"
#include "trace/dict.h"
#include "trace/layout.h"
#include "trace/tree.h"

/* Limits for a hostile file, beside its budget. */
#define RD_MAX_META 4096
#define RD_MAX_SKIPPED (1u << 20) /* numbers that tables may skip, in total */
#define RD_MAX_OVERLAP 1024 /* overlapping symbols that a lookup compares at most */
#define RD_MAX_NAMES 64 /* of a file; more are ignored */
#define RD_MAX_PENDING (1ull << 30) /* packed event blocks waiting */
#define RD_MAX_LOSSES (1u << 20) /* kept one by one */
#define RD_MAX_LANES (1u << 14)
#define RD_MAX_GAPS (1u << 16) /* gaps of a lane */

struct stk_event_type {
	uint32_t index;
	enum stk_event_kind kind;
	const char *system, *name, *filter, *format;
	struct stk_layout *layout;
	uint64_t counters[STK_NR_COUNTERS];
	const struct stk_event_type *shown; /* in the whole of several recordings; else itself */
};

struct rd_task {
	uint32_t tid, tgid;
	const char *comm;
};

struct rd_stack {
	uint32_t node; /* of the reader's tree */
	uint32_t id, alias_of, generation;
	uint64_t refs;
	bool is_seen; /* replaced.c: an event has it as it is */
	bool is_imported; /* has an id of its own */
};

/* Per node of the reader's tree. */
struct rd_node_info {
	uint32_t first_stack; /* first stack that ends here, 0: none */
	uint32_t symbol_blocks; /* read before the node */
	uint16_t depth, levels; /* frames only; frames and markers */
	uint8_t end; /* enum stk_stack_end */
};

struct rd_symbol {
	uint64_t start, size;
	const char *name, *module; /* module NULL: the kernel */
	uint64_t reach; /* highest end of this one and those before it in the array */
	bool irq_entry; /* the frame before it was interrupted */
	uint32_t seq, block; /* symbols and SYMBOLS blocks that were read before it */
};

struct rd_file_name {
	const char *path, *host_path;
};

struct rd_user_symbol {
	uint64_t start, size;
	const char *name;
	uint64_t reach; /* highest end of this one and those before it */
	uint32_t seq; /* in the block */
};

struct rd_file {
	struct stk_file f; /* number 0: lost with a bad block */
	const char *module;
	struct rd_file_name *names;
	struct rd_user_symbol *symbols; /* by start, then seq */
	size_t nr_symbols;
	bool has_symbols; /* the recording has all its symbols */
};

/* From ts on, the frame (file, offset) is one of another file, at the same offset. */
struct rd_replaced {
	uint64_t offset, ts;
	uint32_t file, by;
};

/* The stack that a stack is from one time up to another one. */
struct rd_variant {
	uint64_t from, to;
	uint32_t number;
};

/* The symbolizer's answer. */
struct rd_answer {
	uint64_t start, size;
	const char *name; /* NULL: no symbol */
};
#define RD_START_OF (1u << 31) /* with a file's number: the function that starts at an offset */

struct rd_meta {
	const char *key, *value;
};

/* A metadata value of which not all parts have been read. */
struct rd_meta_part {
	const char *key;
	char *value; /* NULL: none */
	uint64_t len, got;
};

/* A decoded event: where its shared part and its record are. */
struct rd_event {
	uint64_t ts;
	uint32_t tuple;
	/*
	 * Index among the block's events of its type that have fields; of one without fields that
	 * in the block, after all that have them.
	 */
	uint32_t ordinal;
};

struct rd_tuple {
	const struct stk_event_type *type;
	struct rd_part *part; /* NULL: no fields */
	uint32_t task, kstack, ustack;
	uint32_t marks;
	uint8_t flags, preempt_count;
	bool unwanted; /* not selected */
};

struct rd_entry {
	uint32_t off, len; /* its record in the part's records */
};

/* A column that is coded apart. */
struct rd_wide {
	uint32_t offset, size;
	const uint8_t *rows;
};

/* One event type's records in a block. */
struct rd_part {
	const struct stk_event_type *type;
	uint32_t nr, seen; /* events; of these given an ordinal */
	uint32_t first; /* events in the parts before it */
	uint32_t nr_entries;
	const uint32_t *tokens; /* by ordinal: entry; NULL: all 0 */
	const struct rd_entry *entries;
	uint8_t *records; /* of the entries, without the columns coded apart */
	const uint32_t *full; /* by ordinal: row in wide columns; NULL: the ordinal */
	struct rd_wide *wide;
	uint32_t nr_wide;
	const uint32_t *tail_off; /* by ordinal, in tails; NULL: tails are in the entries */
	const uint8_t *tails;
};

struct rd_block {
	uint64_t key; /* time of its next event */
	uint64_t seq; /* order in the file */
	uint64_t late_before; /* events older than this are late */
	uint32_t cpu;
	struct stk_events_header h;
	uint8_t *stored; /* heads and body as stored; NULL once decoded */
	struct arena mem;
	struct rd_event *events; /* the selected ones; NULL: still packed, or counted */
	struct rd_tuple *tuples;
	uint32_t *counts; /* by tuple: its events, if the block is delivered by tuples */
	uint32_t nr_tuples;
	uint32_t nr, pos; /* of what is delivered: events, or tuples */
	bool bare; /* some of its events may lack their fields */
};

struct stk_event {
	struct stk_reader *r;
	const struct rd_block *block;
	const struct rd_tuple *tuple;
	uint64_t ts;
	uint32_t ordinal;
	bool late;
};

/* Blocks taken that changed these. */
struct rd_changes {
	uint64_t meta, files, counters;
};

struct rd_many;
struct rd_member;

struct stk_reader {
	struct stk_reader_opts opts;
	struct stk_select select;
	bool selects; /* not all events */
	bool counts; /* delivers tuples: stk_reader__next_counted() */
	bool started; /* to deliver events */
	bool was_live; /* at the start: it is followed as long as a recorder writes it */
	struct rd_many *many; /* the recordings that this is the whole of; NULL: reads one itself */
	struct rd_member *member; /* what this is of a whole; NULL: nothing */
	uint64_t shift; /* of a member: added to its times */
	const char *path; /* borrowed; NULL: memory */
	const char *host; /* NULL: not computed yet */
	struct rd_changes changes;
	struct input in;
	struct budget budget;
	ZSTD_DCtx *zstd;
	int end; /* 0: more may follow, 1: nothing follows, negative: damaged there */
	int failed; /* -ENOMEM of a call that cannot return it: the next event does */
	bool header_read;
	uint16_t minor; /* of the file's format */
	struct stk_totals totals;
	struct arena strings; /* and other data with the reader's lifetime */
	struct bytes_buf raw, heads, body; /* decompressed; reused */

	struct dict keys; /* of meta, by index */
	struct rd_meta *meta;
	size_t nr_meta, cap_meta;
	struct rd_meta_part part;
	struct stk_event_type **types;
	size_t nr_types, cap_types;
	struct rd_task *tasks; /* by number, [0]: unknown */
	size_t nr_tasks, cap_tasks;
	uint32_t skipped; /* numbers skipped so far */

	struct tree tree;
	struct rd_node_info *info; /* by node of the tree */
	size_t nr_info, cap_info;
	uint32_t *node_map; /* node of the tree by number in the file, 0: unknown */
	size_t nr_node_map, cap_node_map;
	struct rd_stack *stacks; /* by number, [0] unused */
	size_t nr_stacks, cap_stacks;
	uint32_t *stack_map; /* stack by number in the file */
	size_t nr_stack_map, cap_stack_map;

	struct rd_symbol *symbols;
	size_t nr_symbols, cap_symbols;
	uint32_t symbol_seq, symbol_blocks;
	bool symbols_unsorted;

	struct rd_file *files; /* by number, [0] unused */
	size_t nr_files, cap_files;
	bool looked_ahead, looked_for_stacks, looked_for_replaced;
	bool has_jit; /* a file of generated code was read */
	struct rd_replaced *replaced; /* by file, offset, ts, by, unless unsorted */
	size_t nr_replaced, cap_replaced;
	bool replaced_unsorted;
	struct rd_variant *variants; /* by stack */
	size_t cap_variants;
	uint64_t stacks_ahead; /* the same for stacks, their frames and kernel symbols */
	uint64_t ahead; /* where look-ahead ended: the file map up to there is known */
	struct tree hashes; /* a set of the hashes in use */
	struct arena users; /* names of files and of their symbols */
	stk_symbolize_fn symbolize;
	void *symbolize_ctx;
	struct tree queries; /* pairs of file and offset */
	struct rd_answer *answers; /* by node of queries */
	size_t cap_answers;

	struct rd_losses losses;
	struct rd_block **heap; /* by key, then cpu, then seq */
	size_t nr_heap, cap_heap;
	uint64_t block_seq; /* event blocks before the read position */
	uint64_t watermark, round_end;
	uint64_t limit; /* the top block's events before this are next in order */
	bool any_round, drain; /* a marker was read; nothing follows, deliver everything */
	bool emitted; /* the top block's event at pos was delivered */
	size_t pending; /* bytes */
	struct stk_event event;
	uint32_t event_count; /* events that it stands for */
	const void *record; /* of event; NULL: not built yet */
	size_t record_len;
	uint8_t bare_record[STK_RECORD_HEAD]; /* of an event without fields */
};

/* Makes room for one more element of an array; -ENOBUFS: the budget is exhausted. */
int rd_reserve(struct budget *b, void *array, size_t *cap, size_t nr, size_t size);
void rd_log(const struct stk_reader *r, enum stk_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Decompresses or copies exactly raw_len bytes, at most STK_MAX_RAW, to out.  -EBADMSG: the length
 * differs; -ENOBUFS as above.
 */
int rd_unpack(struct stk_reader *r, uint32_t codec, const uint8_t *stored, size_t stored_len,
	      size_t raw_len, struct bytes_buf *out);

/* An empty reader without an input. */
int rd_new(const struct stk_reader_opts *opts, struct stk_reader **ret_reader);
/* Reads the metadata at the start, up to the first event types or events. */
void rd_read_start(struct stk_reader *r);
bool rd_crc_matches(uint32_t want, const void *data, size_t len);
/* Reads the header of the block `ahead` bytes after the read position; false if unavailable. */
bool rd_peek_header(struct stk_reader *r, uint64_t ahead, struct stk_block_header *ret_header);

/*
 * Reads the file map and symbols of the rest of the recording, as far as it is available: symbols
 * are stored at its end but needed for the first frame.
 */
void rd_look_ahead(struct stk_reader *r);

/*
 * read_tables.c: -EBADMSG: bad content; -ENOBUFS: the budget is exhausted; entries before the error
 * stay.
 */
int rd_table(struct stk_reader *r, const struct stk_block_header *h, struct bytes_cur c);
/* The slot of a key's value; NULL when out of memory, budget or keys. */
const char **rd_meta_value(struct stk_reader *r, const uint8_t *key, size_t len);
/*
 * Numbers are dense, so that they are array indexes.  The numbers of a lost block are skipped, up
 * to RD_MAX_SKIPPED in total: otherwise a small file could claim any amount of memory.
 */
int rd_skip_numbers(struct stk_reader *r, uint64_t number, void *array, size_t *cap, size_t *nr,
		    size_t size);

/* The reader's node for a child of parent; 0 when the path is too long. */
int64_t rd_intern_node(struct stk_reader *r, uint32_t parent, uint64_t frame);
/* Adds a stack that ends at this node, under a new number. */
int rd_add_stack(struct stk_reader *r, struct rd_stack s, uint32_t *ret_number);

/* replaced.c */
int rd_take_replaced(struct stk_reader *r, struct bytes_cur *c);
void rd_replaced__free(struct stk_reader *r);
/* The number of the stack at a time. */
uint32_t rd_replaced__stack(struct stk_reader *r, uint32_t number, uint64_t ts);

/* read_files.c */
void rd_files__free(struct stk_reader *r);
int rd_take_files(struct stk_reader *r, struct bytes_cur *c);
int rd_take_user_symbols(struct stk_reader *r, struct bytes_cur *c);
int rd_unique_hash(struct stk_reader *r, struct stk_file *f);
/* NULL: unknown, or lost with a bad block. */
struct rd_file *rd_find_file(const struct stk_reader *r, uint32_t number);
const char *rd_module_name(const struct stk_file *f);
/* Fills in a user frame.  f->exact, which depends on the frame inward of it, must be set. */
void rd_resolve_user(struct stk_reader *r, uint64_t frame, struct stk_frame *f);

/* resolve.c */
void rd_symbols_follow(struct stk_reader *r, size_t i, struct rd_symbol *s);
/*
 * Fills in a kernel frame whose node was read after `blocks` SYMBOLS blocks; NULL: no symbol.
 * f->exact must be set, unless the frame is known to be exact by its address.
 */
const struct rd_symbol *rd_resolve(struct stk_reader *r, struct stk_frame *f, uint32_t blocks);

/* merge.c */
/* Adds the payload of an EVENTS block; copied. */
int rd_merge__add(struct stk_reader *r, uint32_t cpu, const uint8_t *payload, size_t len);
void rd_merge__round(struct stk_reader *r, uint64_t end_ts);
/*
 * 1: r->event is the next event, or stands for the next r->event_count; 0: more input is needed
 * first; -ENOBUFS: the budget is exhausted.
 */
int rd_merge__next(struct stk_reader *r);
void rd_merge__free(struct stk_reader *r);

/*
 * decode.c: fills events and tuples from stored, or counts and tuples; only what is selected stays.
 * -EBADMSG, -ENOMEM, -ENOBUFS.
 */
int rd_decode(struct stk_reader *r, struct rd_block *b);
int rd_decode_counts(struct stk_reader *r, struct rd_block *b);

/* select.c */
/* Whether no event of the block is selected, according to its sound header. */
bool rd_select__excludes(const struct stk_reader *r, uint32_t cpu,
			 const struct stk_events_header *h);
bool rd_select__has_time(const struct stk_reader *r, uint64_t ts);
bool rd_select__has(const struct stk_reader *r, const struct stk_event *e);
/* Marks the tuples that are not selected; returns the number of the others. */
uint32_t rd_select__tuples(struct stk_reader *r, struct rd_block *b);
/* decode_body.c */
int rd_decode_part(struct arena *mem, struct rd_part *p, struct bytes_cur *c);
/* Reads a plane table of n tokens; false, with the cursor bad, if one is not below bound. */
bool rd_get_tokens(struct bytes_cur *c, unsigned int width, uint32_t n, uint32_t bound,
		   uint32_t *out);

#endif /* TRACE_READER_H */
