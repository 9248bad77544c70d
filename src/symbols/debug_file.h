/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds files by identity: under a root, by build id or by debug link. */
#ifndef SYMBOLS_DEBUG_FILE_H
#define SYMBOLS_DEBUG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Opens a regular, non-empty file for reading, as a process with that root would find it; "": the
 * root of this process.  Nothing else is opened or mounted on the way.  -ENOENT: no such file, or a
 * file of the kernel (/proc, /sys).
 */
int root__open(const char *root, const char *path, int *ret_fd);

#define DEBUG_DIRS_USUAL "/usr/lib/debug"

struct debug_dirs {
	const char *sysroot; /* searched first; "": / */
	const char *const *dirs; /* NULL-terminated */
	bool debuginfod;
};

/*
 * Opens the program or library with this build id, where distributions keep links to them.
 * -ENOENT.
 */
int debug_dirs__open_id(const struct debug_dirs *d, const uint8_t *id, unsigned int id_len,
			int *ret_fd);
/*
 * Opens the debug file of an open file; path determines where a debug link is searched.  -ENOENT.
 */
int debug_dirs__open_debug(const struct debug_dirs *d, int fd, const char *path, int *ret_fd);
/* Opens the file to which dwz(1) moved DWARF that several debug files share.  -ENOENT. */
int debug_dirs__open_alt(const struct debug_dirs *d, int debug_fd, int *ret_fd);

/* Opens a file with split DWARF by its path in the debug file.  -ENOENT. */
int debug_dirs__open_split(const struct debug_dirs *d, const char *path, int *ret_fd);

/* True if the ELF file itself has them. */
bool debug_file__has_symbols(int fd);
bool debug_file__has_lines(int fd);

/* Why no file can be downloaded; NULL: it can be tried. */
const char *debuginfod__unusable(void);
/* Downloads from the servers in $DEBUGINFOD_URLS, if libdebuginfod is installed.  -ENOENT. */
int debuginfod__open(const uint8_t *id, unsigned int id_len, bool debug, int *ret_fd);

#endif /* SYMBOLS_DEBUG_FILE_H */
