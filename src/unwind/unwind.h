/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds the unwind table of an ELF file.  The file is untrusted: whatever it contains, the result
 * is a table or an error; time and memory are limited by the file's size and UNWIND_MAX_...
 *
 * For each range of code, the first of these sources that covers it is used: .eh_frame (by section
 * or by PT_GNU_EH_FRAME); .gopclntab; .debug_frame (also compressed; not that of Go, which has less
 * than Go's own tables); rows computed from the machine code, for musl's libc, which has none of
 * these, and for a file's entry point (UNWIND_SYNTHESISED).
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

#define UNWIND_MAX_ROWS (64u << 20)

enum unwind_source {
	UNWIND_EH_FRAME = 1 << 0,
	UNWIND_DEBUG_FRAME = 1 << 1,
	UNWIND_GOPCLNTAB = 1 << 2,
	UNWIND_SYNTHESISED = 1 << 3,
};

struct unwind_table {
	uint32_t *words;
	uint32_t nr_words;
	uint32_t first_page; /* page of the file that the first entry of pages describes */
	uint32_t nr_pages;
	uint32_t rules; /* word offset of the u64 rules */
	uint32_t nr_rules;
	uint32_t nr_rows;
	unsigned int sources; /* enum unwind_source, those that added rows */
	uint64_t cfi_bytes; /* of .eh_frame or .debug_frame, for the ratio */
	uint64_t unknown; /* rows without a rule (UNW_NONE) within covered code */
};

/*
 * -ENOEXEC: not an ELF file of this machine; -ENOENT: it has no unwind information; -ENOMEM, -EIO.
 * The file is read with pread(2), so a file that shrinks meanwhile does no harm.
 */
int unwind__from_fd(int fd, struct unwind_table **ret_table);
/*
 * Reads an image in memory: mapped means as the loader maps it (the vdso), else as in the file.
 * Rows are keyed by file offset in both cases.
 */
int unwind__from_image(const void *image, size_t len, bool mapped, struct unwind_table **ret_table);
void unwind__free(struct unwind_table *t);

/*
 * Whether all that unwind__find() and an unwinder follow lies within the table, for a table that
 * was not built by this process.
 */
bool unwind__is_valid(const struct unwind_table *t);

/* The 20-bit rule for an offset in the file; UNW_ESCAPE | UNW_NONE if there is none. */
uint32_t unwind__find(const struct unwind_table *t, uint64_t file_offset);

#endif /* UNWIND_UNWIND_H */
