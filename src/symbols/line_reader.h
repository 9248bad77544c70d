/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines and inlined calls, from DWARF by libdw.  DWARF is a language for programs that build
 * trees, and files are untrusted: a child process without rights reads them.  Whatever a file does to
 * it, the worst that comes of it is that lines are not known, or wrong.
 */
#ifndef SYMBOLS_LINE_READER_H
#define SYMBOLS_LINE_READER_H

#include <stdint.h>

#include "usyms.h"

struct debug_dirs;
struct line_reader;

/*
 * fd: the file with the DWARF, alt_fd: what dwz(1) moved out of it, or -1.  Both stay the caller's
 * and may be closed.  dirs: where files of split DWARF are looked for; lives as long as the reader.
 */
int line_reader__new(const struct debug_dirs *dirs, int fd, int alt_fd,
		     struct line_reader **ret_reader);
void line_reader__free(struct line_reader *r);
/*
 * As usyms__lines(), of a virtual address.  -ENOENT: nothing is known of it; -EIO: the child is
 * gone, and will be for the rest of the time.
 */
int line_reader__find(struct line_reader *r, uint64_t vaddr, struct usyms_line *ret_lines,
		      unsigned int max);

/* The child: answers one address; nr lines, whose strings live until the next call. */
struct dwarf_lines;
struct dwarf_lines *dwarf_lines__new(int fd, int alt_fd);
unsigned int dwarf_lines__find(struct dwarf_lines *d, uint64_t vaddr, struct usyms_line *ret_lines,
			       unsigned int max);

#endif /* SYMBOLS_LINE_READER_H */
