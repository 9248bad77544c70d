/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a recording: one record per file, however many ids the kernel side gave it and
 * however many names it has.
 */
#ifndef RECORD_FILE_MAP_H
#define RECORD_FILE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "wire.h"

#define FILE_MAP_MAX_NAMES 64 /* per file; more are left out */

struct file_map;
struct jit_source;
struct mapped_file;
struct seen_file;
struct stk_writer;

int file_map__new(struct file_map **ret_map);
void file_map__free(struct file_map *m);
/* Enables file_map__number(); w is borrowed. */
void file_map__set_writer(struct file_map *m, struct stk_writer *w);

/*
 * Finds or adds the file of a file event.  s is the file as it was observed, with fd -1 if it could
 * not be opened; s is left empty.
 */
int file_map__add(struct file_map *m, const struct wire_file_event *n, struct seen_file *s,
		  struct mapped_file **ret_file);
/* The same for a known file, for another name or if it could not be opened so far. */
int file_map__update(struct file_map *m, struct mapped_file *f, const struct wire_file_event *n,
		     struct seen_file *s);
int file_map__add_vdso(struct file_map *m, const uint8_t *id, unsigned int id_len,
		       struct mapped_file **ret_file);
/*
 * Takes ownership of jit, which is used unless the program has one.  NULL: it is opened if the
 * program has none.
 */
int file_map__add_jit(struct file_map *m, const struct wire_file_event *n, struct jit_source *jit,
		      struct mapped_file **ret_file);

/* The file's number in the recording; the first call hands the file to the writer. */
int file_map__number(struct file_map *m, struct mapped_file *f, uint32_t *ret_number);
/* The file with that number; NULL: none. */
struct mapped_file *file_map__at(const struct file_map *m, uint32_t number);
uint32_t file_map__nr(const struct file_map *m); /* all files, with or without a number */
/*
 * Files that are deleted, or are likely to be before the end, and could not be kept open because
 * too many are; and generated code of processes that could not be observed for the same reason.
 */
uint32_t file_map__not_kept(const struct file_map *m);

/* Without the number and further names.  Valid until the file is updated. */
const struct stk_file *mapped_file__info(const struct mapped_file *f);
struct jit_source *mapped_file__jit(const struct mapped_file *f); /* NULL: none or unknown */
/* Opens the same, unchanged file for reading, or fails; the caller owns the descriptor. */
int mapped_file__open(const struct mapped_file *f);
/*
 * Hashes the content of a file that has no id, if it is at most max_bytes long and can still be
 * opened.
 */
int file_map__hash(struct file_map *m, struct mapped_file *f, uint64_t max_bytes);
/* The same for all files with a number, except long ones. */
int file_map__hash_all(struct file_map *m);

#endif /* RECORD_FILE_MAP_H */
