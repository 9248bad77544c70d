/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's side of the file map: maps file ids of the kernel side to files with paths, build
 * id, unwind table and a number in the recording.
 */
#ifndef RECORD_USER_FILES_H
#define RECORD_USER_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"
#include "wire.h"

struct user_files;
struct stk_writer;
struct table_store;

struct user_files_opts {
	struct wire_file *entries; /* the mmap()ed map `files`: WIRE_MAX_FILES */
	struct wire_user_ctl *ctl; /* in the skeleton's bss */
	/*
	 * By CPU: a ring of struct wire_file_event, or -1 until the CPU comes online; borrowed, for
	 * user_files__follow().
	 */
	const int *file_ring_fds;
	unsigned int nr_cpus;
	int slabs_fd; /* map `slabs`, an array of maps: WIRE_TABLE_SLABS */
	int snapshot_fd; /* program `snapshot`, iter/task_vma, of struct wire_file_event */
	uint64_t table_budget; /* bytes that tables may use; 0: frame pointers only */
	struct table_store *store; /* borrowed; NULL: all tables are converted */
	struct stk_writer *w; /* borrowed; NULL until user_files__set_writer() */
};

int user_files__new(const struct user_files_opts *opts, struct user_files **ret_files);
void user_files__free(struct user_files *f);
void user_files__set_writer(struct user_files *f, struct stk_writer *w);

/* Adds the files of all executable mappings of all processes, and loads their tables. */
int user_files__snapshot(struct user_files *f);

/* Starts threads that read file events; without it there are none. */
int user_files__follow(struct user_files *f);

/*
 * Handles pending file events: opens new files while they exist, loads their tables, and evicts
 * others if the budget requires it.  Cheap without file events; call it often.
 */
int user_files__poll(struct user_files *f);
/* Readable when user_files__poll() has file events to handle; -1: never. */
int user_files__fd(const struct user_files *f);

/*
 * The file's number in the recording; the first use hands the file to the writer.  Handles pending
 * file events if the id is not known yet.  0: the id is unknown.
 */
int user_files__number(struct user_files *f, uint32_t id, uint32_t *ret_number);

/*
 * The table for the code at an offset in a mapping of a deferred stack, loaded if necessary; NULL:
 * no table.  exact: the code there was interrupted; else it calls.
 */
const struct unwind_table *user_files__table(struct user_files *f, const struct wire_copy *c,
					     const struct wire_vma *v, uint64_t offset, bool exact);

/* Notes a frame of a stack in the recording, whose symbol user_files__finish() will write. */
int user_files__note_frame(struct user_files *f, uint32_t number, uint64_t offset);

/*
 * Call this at the end: hashes files without an id, and writes symbols of all noted frames.
 * to_clock: as in user_frames.h.
 */
int user_files__finish(struct user_files *f, bool symbols, int64_t to_clock);

struct user_files_stats {
	uint32_t files; /* known */
	uint32_t loaded, evicted; /* tables: current, total */
	uint32_t refused; /* times that a table found no room */
	uint32_t no_table; /* files without a table */
	uint32_t not_kept; /* see file_map__not_kept() */
	uint64_t table_bytes, table_peak; /* in use, maximum */
	uint64_t cfi_bytes; /* of the loaded files' .eh_frame */
	uint64_t load_ns; /* duration of the snapshot */
};
void user_files__stats(const struct user_files *f, struct user_files_stats *ret_stats);

#endif /* RECORD_USER_FILES_H */
