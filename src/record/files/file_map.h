/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a recording: one record per file, however many ids the kernel's side gave it and
 * however many names it has.
 */
#ifndef RECORD_FILE_MAP_H
#define RECORD_FILE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "stackonce.h"
#include "wire.h"

#define FILE_MAP_MAX_NAMES 64 /* of one file; others are left out */

struct file_map;
struct jit_source;
struct mapped_file;
struct seen_file;
struct stk_writer;

int file_map__new(struct file_map **ret_map);
void file_map__free(struct file_map *m);
/* Files get numbers from here on; borrowed. */
void file_map__set_writer(struct file_map *m, struct stk_writer *w);

/*
 * The file of the news, new or known; s is what was seen of it, with fd -1 if it could not be
 * opened.  s is left empty.
 */
int file_map__add(struct file_map *m, const struct wire_news *n, struct seen_file *s,
		  struct mapped_file **ret_file);
/* A file seen again: under another name, or one that could not be opened so far. */
int file_map__add_sight(struct file_map *m, struct mapped_file *f, const struct wire_news *n,
			struct seen_file *s);
int file_map__add_vdso(struct file_map *m, const uint8_t *id, unsigned int id_len,
		       struct mapped_file **ret_file);
/* jit belongs to the map from here on. */
int file_map__add_jit(struct file_map *m, const struct wire_news *n, struct jit_source *jit,
		      struct mapped_file **ret_file);

/* The file's number in the recording, told the writer at the first call. */
int file_map__number(struct file_map *m, struct mapped_file *f, uint32_t *ret_number);
/* The file with that number; NULL: there is none. */
struct mapped_file *file_map__at(const struct file_map *m, uint32_t number);
uint32_t file_map__nr(const struct file_map *m); /* of all files, with a number or without */

/* number and names but the first are not filled in.  Lives until something is said of the file. */
const struct stk_file *mapped_file__info(const struct mapped_file *f);
const struct jit_source *
mapped_file__jit(const struct mapped_file *f); /* NULL: none, or not known */
/* The very file for reading, if it can be had still; the descriptor is the caller's. */
int mapped_file__open(const struct mapped_file *f);
/*
 * A hash of its content for a file with a number that has no id yet, if it is at most so long and
 * can be had still.
 */
int file_map__hash(struct file_map *m, struct mapped_file *f, uint64_t max_bytes);
/* The same of all files with a number, the long ones left out. */
int file_map__hash_all(struct file_map *m);

#endif /* RECORD_FILE_MAP_H */
