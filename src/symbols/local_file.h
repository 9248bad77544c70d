/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of this machine by what they are, whatever paths a recording has for them: each is hashed,
 * and its symbols are read, once.
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
	/* what it is known by; mtime and ctime change when it is written to */
	dev_t dev;
	ino_t ino;
	uint64_t size;
	struct timespec mtime, ctime;

	int id_err; /* of id; 1: not looked for yet */
	unsigned int id_len;
	uint8_t id[64]; /* build id */
	int content_err; /* of content; 1: not hashed yet */
	uint8_t content[20];

	/* of usyms.c */
	int symbols_err, lines_err; /* there are none */
	struct elf_symbols *symbols; /* NULL: not loaded, or given back */
	struct line_reader *lines;
	struct elf_file segments; /* with lines: from offsets to addresses */
	uint64_t used; /* when it was asked last */
	bool held; /* it is among the holders */
};

struct local_files;

/* max_hashed: bytes of content hashes in all. */
int local_files__new(uint64_t max_hashed, struct local_files **ret_files);
void local_files__free(struct local_files *files);
/* An open file; it lives as long as files. */
int local_files__get(struct local_files *files, int fd, struct local_file **ret_file);

/* fd: the same file, open.  As elf_build_id__from_fd(). */
int local_file__build_id(struct local_file *f, int fd);
/*
 * As content_hash__from_fd().  -ENOENT: it is not known by its content, as it has a build id or is
 * larger than what recorders hash; -EDQUOT: there was too much to hash.
 */
int local_files__hash(struct local_files *files, struct local_file *f, int fd);

#endif /* SYMBOLS_LOCAL_FILE_H */
