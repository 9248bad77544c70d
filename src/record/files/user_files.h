/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The recorder's side of the file map: what the kernel's side calls by a small id becomes a file
 * with paths, build id and unwind table, and a number in the recording.
 */
#ifndef RECORD_FILES_H
#define RECORD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"
#include "wire.h"

struct files;
struct stk_writer;

struct files_opts {
	struct wire_file *entries; /* map `files`, mapped: WIRE_MAX_FILES */
	struct wire_user_ctl *ctl; /* in the skeleton's bss */
	int news_fd; /* map `news`, a ring of struct wire_news */
	int slabs_fd; /* map `slabs`, an array of maps: WIRE_TABLE_SLABS */
	int snapshot_fd; /* program `snapshot`, iter/task_vma: struct wire_news of every mapping */
	uint64_t table_budget; /* bytes that tables may use; 0: frame pointers only */
	struct stk_writer *w; /* borrowed; NULL until files__set_writer() */
};

int files__new(const struct files_opts *opts, struct files **ret_files);
void files__free(struct files *f);
void files__set_writer(struct files *f, struct stk_writer *w);

/* Every executable mapping of every running process: known, and its table loaded. */
int files__snapshot(struct files *f);

/*
 * Takes the news: opens new files while they are there, loads their tables, evicts others where
 * the budget asks for it.  To be called often; cheap when there are none.
 */
int files__poll(struct files *f);
/* Readable when there are news for files__poll(); -1: there never are. */
int files__fd(const struct files *f);

/*
 * The file's number in the recording, handed to the writer on first use; takes the news if the id
 * is not known yet.  0 for an id that stays unknown.
 */
int files__number(struct files *f, uint32_t id, uint32_t *ret_number);

/* The table of a mapping in a copied stack, loaded if need be; NULL: its file has no table. */
const struct unwind_table *files__table(struct files *f, const struct wire_copy *c,
					const struct wire_vma *v);

/* A frame of a stack that is being written; its symbol will be stored at the end. */
int files__note_frame(struct files *f, uint32_t number, uint64_t offset);

/* At the end: build ids still missing, symbols of all frames noted. */
int files__finish(struct files *f, bool symbols);

struct files_stats {
	uint32_t files; /* known */
	uint32_t loaded, evicted, no_table; /* tables now, ever, files without */
	uint64_t table_bytes, table_peak; /* in use, most ever */
	uint64_t cfi_bytes; /* of the loaded files' .eh_frame */
	uint64_t load_ns; /* spent on the snapshot */
};
void files__stats(const struct files *f, struct files_stats *ret_stats);

#endif /* RECORD_FILES_H */
