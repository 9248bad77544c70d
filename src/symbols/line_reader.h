/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines and inlined calls, from DWARF by libdw.  DWARF is complex and files are untrusted,
 * so a child process without rights reads them.  The worst effect of a malicious file is that lines
 * are unknown or wrong.
 */
#ifndef SYMBOLS_LINE_READER_H
#define SYMBOLS_LINE_READER_H

#include <stdint.h>

#include "usyms.h"

struct debug_dirs;
struct line_reader;

/*
 * fd: the file with DWARF; alt_fd: the file to which dwz(1) moved parts of it, or -1.  The caller
 * keeps both and may close them.  dirs: where files with split DWARF are searched; must outlive the
 * reader.
 */
int line_reader__new(const struct debug_dirs *dirs, int fd, int alt_fd,
		     struct line_reader **ret_reader);
void line_reader__free(struct line_reader *r);
/*
 * As usyms__lines(), for a virtual address.  -ENOENT: no line is known; -EIO: the child is gone and
 * will not be restarted.
 */
int line_reader__find(struct line_reader *r, uint64_t vaddr, struct usyms_line *ret_lines,
		      unsigned int max);

/*
 * In the child: finds the lines of an address; returns their number.  Strings live until the next
 * call.
 */
struct dwarf_lines;
struct dwarf_lines *dwarf_lines__new(int fd, int alt_fd);
unsigned int dwarf_lines__find(struct dwarf_lines *d, uint64_t vaddr, struct usyms_line *ret_lines,
			       unsigned int max);

#endif /* SYMBOLS_LINE_READER_H */
