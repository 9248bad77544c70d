/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an ELF file to its unwind table.  The file is untrusted: whatever it holds, the answer is a
 * table, or an error; time and memory are bounded by the file's size and UNWIND_MAX_...
 *
 * Sources, in this order, for each stretch of code what the first one knows:
 *   .eh_frame (by section or by PT_GNU_EH_FRAME), .gopclntab, .debug_frame (compressed too; not that
 *   of Go, which knows less than Go's own tables), and rows made from the machine code for musl's
 *   libc, which has none of these, and for a file's entry point (UNWIND_SYNTHESISED).
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
	uint32_t first_page; /* page of the file that the first entry of pages is for */
	uint32_t nr_pages;
	uint32_t rules; /* word offset of the u64 rules */
	uint32_t nr_rules;
	uint32_t nr_rows;
	unsigned int sources; /* enum unwind_source, those that gave rows */
	uint64_t cfi_bytes; /* of .eh_frame or .debug_frame, for the ratio */
	uint64_t unknown; /* rows that nothing could be said of (UNW_NONE) within an FDE */
};

/*
 * -ENOEXEC: no ELF file of this machine; -ENOENT: it has no unwind information at all; -ENOMEM,
 * -EIO.  The file is read with pread(2), so that one that shrinks meanwhile does no harm.
 */
int unwind__from_fd(int fd, struct unwind_table **ret_table);
/*
 * From an image in memory: mapped means as the loader lays it out (the vdso), else as in the file.
 * Rows are keyed by file offset in both cases.
 */
int unwind__from_image(const void *image, size_t len, bool mapped, struct unwind_table **ret_table);
void unwind__free(struct unwind_table *t);

/* The 20-bit rule for an offset in the file; UNW_ESCAPE | UNW_NONE where there is none. */
uint32_t unwind__find(const struct unwind_table *t, uint64_t file_offset);

#endif /* UNWIND_UNWIND_H */
