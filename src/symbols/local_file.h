/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of this machine by identity, independent of their paths in a recording: each is hashed, and
 * its symbols are read, only once.
 */
#ifndef SYMBOLS_LOCAL_FILE_H
#define SYMBOLS_LOCAL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "elf_file.h"

struct elf_symbols;
struct line_reader;

struct local_file {
	/* identity; mtime and ctime change when the file is written */
	dev_t dev;
	ino_t ino;
	uint64_t size;
	struct timespec mtime, ctime;

	int id_err; /* of id; 1: not read yet */
	unsigned int id_len;
	uint8_t id[64]; /* build id */
	int content_err; /* of content; 1: not hashed yet */
	uint8_t content[20];

	/* for usyms.c */
	int symbols_err, lines_err; /* loading failed */
	struct elf_symbols *symbols; /* NULL: not loaded, or freed again */
	struct line_reader *lines;
	struct elf_file segments; /* with lines: converts offsets to addresses */
	uint64_t used; /* last use */
	bool in_loaded; /* in usyms.loaded */
};

struct local_files;

/* max_hashed: limit for the bytes hashed in total. */
int local_files__new(uint64_t max_hashed, struct local_files **ret_files);
void local_files__free(struct local_files *files);
/* The entry for an open file; it lives as long as `files`. */
int local_files__get(struct local_files *files, int fd, struct local_file **ret_file);

/* As elf_build_id__from_fd(); fd: the same file. */
int local_file__build_id(struct local_file *f, int fd);
/*
 * As content_hash__from_fd().  -ENOENT: files with a build id, or larger than what recorders hash,
 * are not identified by content; -EDQUOT: the limit is reached.
 */
int local_files__hash(struct local_files *files, struct local_file *f, int fd);

#endif /* SYMBOLS_LOCAL_FILE_H */
