/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding files by what they are: under a root, by build id, by debug link. */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A regular file that is not empty for reading, as a process with that root would find it; "": this
 * one's.  Nothing else is opened or mounted on the way.  -ENOENT: there is none, or it is one of the
 * kernel's (/proc, /sys).
 */
int root__open(const char *root, const char *path, int *ret_fd);

#define DEBUG_DIRS_USUAL "/usr/lib/debug"

struct debug_dirs {
	const char *sysroot; /* looked under first; "": / */
	const char *const *dirs; /* NULL-terminated */
	bool debuginfod;
};

/* The program or library with that build id, where distributions keep links to them.  -ENOENT. */
int debug_dirs__open_id(const struct debug_dirs *d, const uint8_t *id, unsigned int id_len,
			int *ret_fd);
/*
 * The debug file of an open file, whose path says where a debug link is looked for.  -ENOENT.
 */
int debug_dirs__open_debug(const struct debug_dirs *d, int fd, const char *path, int *ret_fd);
/* The file that holds what dwz(1) found to be common to several debug files.  -ENOENT. */
int debug_dirs__open_alt(const struct debug_dirs *d, int debug_fd, int *ret_fd);

/* A file of split DWARF, by the path that the debug file has for it.  -ENOENT. */
int debug_dirs__open_split(const struct debug_dirs *d, const char *path, int *ret_fd);

/* What an ELF file has of its own. */
bool debug_file__has_symbols(int fd);
bool debug_file__has_lines(int fd);

/* From the servers of $DEBUGINFOD_URLS, if libdebuginfod is here.  -ENOENT. */
int debuginfod__open(const uint8_t *id, unsigned int id_len, bool debug, int *ret_fd);

#endif /* SYMBOLS_DEBUG_FILE_H */
