/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's side of the file map: what the kernel's side calls by a small id becomes a file
 * with paths, build id and unwind table, and a number in the recording.
 */
#ifndef RECORD_USER_FILES_H
#define RECORD_USER_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"
#include "wire.h"

struct user_files;
struct stk_writer;

struct user_files_opts {
	struct wire_file *entries; /* map `files`, mapped: WIRE_MAX_FILES */
	struct wire_user_ctl *ctl; /* in the skeleton's bss */
	int news_fd; /* map `news`, a ring of struct wire_news */
	int slabs_fd; /* map `slabs`, an array of maps: WIRE_TABLE_SLABS */
	int snapshot_fd; /* program `snapshot`, iter/task_vma: struct wire_news of every mapping */
	uint64_t table_budget; /* bytes that tables may use; 0: frame pointers only */
	struct stk_writer *w; /* borrowed; NULL until user_files__set_writer() */
};

int user_files__new(const struct user_files_opts *opts, struct user_files **ret_files);
void user_files__free(struct user_files *f);
void user_files__set_writer(struct user_files *f, struct stk_writer *w);

/* Every executable mapping of every running process: known, and its table loaded. */
int user_files__snapshot(struct user_files *f);

/*
 * Takes the news: opens new files while they are there, loads their tables, evicts others where
 * the budget asks for it.  To be called often; cheap when there are none.
 */
int user_files__poll(struct user_files *f);
/* Readable when there are news for user_files__poll(); -1: there never are. */
int user_files__fd(const struct user_files *f);

/*
 * The file's number in the recording, handed to the writer on first use; takes the news if the id
 * is not known yet.  0 for an id that stays unknown.
 */
int user_files__number(struct user_files *f, uint32_t id, uint32_t *ret_number);

/* The table of a mapping in a copied stack, loaded if need be; NULL: its file has no table. */
const struct unwind_table *user_files__table(struct user_files *f, const struct wire_copy *c,
					     const struct wire_vma *v);

/* A frame of a stack that is being written; its symbol will be stored at the end. */
int user_files__note_frame(struct user_files *f, uint32_t number, uint64_t offset);

/* At the end: build ids still missing, symbols of all frames noted. */
int user_files__finish(struct user_files *f, bool symbols);

struct user_files_stats {
	uint32_t files; /* known */
	uint32_t loaded, evicted, no_table; /* tables now, ever, files without */
	uint64_t table_bytes, table_peak; /* in use, most ever */
	uint64_t cfi_bytes; /* of the loaded files' .eh_frame */
	uint64_t load_ns; /* spent on the snapshot */
};
void user_files__stats(const struct user_files *f, struct user_files_stats *ret_stats);

#endif /* RECORD_USER_FILES_H */
