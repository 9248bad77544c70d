/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions of user files: ELF symbol tables, MiniDebugInfo, separate debug files, perf maps and
 * jitdumps.  Files are untrusted.
 */
#ifndef SYMBOLS_USYMS_H
#define SYMBOLS_USYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- one ELF file ---------------------------------------------------------------------------- */

struct elf_symbols; /* functions by file offset, sorted */

struct elf_symbol {
	const char *name; /* not demangled; owned by the table */
	uint64_t start, size; /* offset in the file */
};

/*
 * The functions of .symtab, or .dynsym and .gnu_debugdata.  debug_fd: its separate debug file, or
 * -1. -ENOEXEC: not an ELF file; -ENOENT: no symbols.
 */
int elf_symbols__from_fd(int fd, int debug_fd, struct elf_symbols **ret_symbols);
int elf_symbols__from_image(const void *image, size_t len, struct elf_symbols **ret_symbols);
void elf_symbols__free(struct elf_symbols *s);
/* The function that contains the offset; -ENOENT. */
int elf_symbols__find(const struct elf_symbols *s, uint64_t offset, struct elf_symbol *ret_symbol);
size_t elf_symbols__nr(const struct elf_symbols *s);

/* The GNU build id, at most 64 bytes; -ENOENT: no build id; -ENOEXEC. */
int elf_build_id__from_fd(int fd, uint8_t ret_id[64], unsigned int *ret_len);
int elf_build_id__from_image(const void *image, size_t len, uint8_t ret_id[64],
			     unsigned int *ret_len);
/* From notes as an ELF file of 64 bits has them, such as /sys/kernel/notes. */
int elf_build_id__from_notes(const void *notes, size_t len, uint8_t ret_id[64],
			     unsigned int *ret_len);
/*
 * The first 20 bytes of the SHA-256 of the whole file (libmd), for files without a build id.
 * -EFBIG: the file is larger than max_bytes.
 */
int content_hash__from_fd(int fd, uint64_t max_bytes, uint8_t ret_id[20]);

/* ---- paths ----------------------------------------------------------------------------------- */

struct usyms; /* finds and caches files and their symbols */

struct usyms_opts {
	const char *sysroot; /* searched first; NULL or "": / */
	const char *const *debug_dirs; /* NULL-terminated; NULL: /usr/lib/debug */
	bool debuginfod; /* also ask the servers in $DEBUGINFOD_URLS */
	bool inlines; /* usyms__lines() is needed: search debug files */
	uint64_t max_hashed; /* limit for bytes hashed to identify files; 0: 256 MiB */
};
int usyms__new(const struct usyms_opts *opts, struct usyms **ret_usyms);
void usyms__free(struct usyms *u);

struct usyms_file {
	const int *fd; /* the open file, owned by the caller; NULL: search for it */
	const char *path, *host_path; /* tried in order of trust: host_path, path */
	const uint8_t *id; /* build id or content hash; a file with another id is not used */
	unsigned int id_len;
	bool content; /* id is a content hash */
	uint64_t size,
		mtime_ns; /* must match without a build id; with a content hash only the size */
};

/*
 * The function at an offset.  -ENOENT: no function; -ESTALE: the file exists but has another build
 * id; -ENODEV: no such file.  ret_symbol's name lives as long as u.
 */
int usyms__find(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		struct elf_symbol *ret_symbol);
/*
 * Whether the file on this machine has the recorded id: 0, -ESTALE, -ENODEV.  *ret_path: the file
 * that was compared; lives as long as u.
 */
int usyms__verify(struct usyms *u, const struct usyms_file *file, const char **ret_path);

/* An inlined call or the function itself, innermost first. */
struct usyms_line {
	const char *function; /* not demangled; NULL unknown */
	const char *source; /* NULL unknown */
	unsigned int line; /* 0 unknown */
};
/*
 * Fills at most max lines and returns their number; they live until the next call.  If DWARF does
 * not name the outermost function, its symbol does.  -ENOENT: no line is known; -EIO: the file's
 * DWARF is unreadable; else as usyms__find().
 */
int usyms__lines(struct usyms *u, const struct usyms_file *file, uint64_t offset,
		 struct usyms_line *ret_lines, unsigned int max);

/* C++ (Itanium) and Rust (legacy, v0); NULL: not mangled.  The caller frees the result. */
char *demangle(const char *name);
char *demangle_with_params(const char *name); /* "ns::f(int)", where demangle() returns "ns::f" */

/* ---- code without a file --------------------------------------------------------------------- */

struct jit_symbols; /* functions of one process by address */

int jit_symbols__new(struct jit_symbols **ret_symbols);
void jit_symbols__free(struct jit_symbols *s);
/* Reads a perf-PID.map ("START SIZE NAME" in hex per line); bad lines are skipped and counted. */
int jit_symbols__add_map(struct jit_symbols *s, int fd);
/* Reads a jitdump file (tools/perf/Documentation/jitdump-specification.txt). */
int jit_symbols__add_dump(struct jit_symbols *s, int fd);
/*
 * The same in pieces: continues where the last call ended.  whole: a record whose end is not in the
 * file yet is left to the next call.  The caller settles the table before it looks up.
 */
int jit_symbols__read_dump(struct jit_symbols *s, int fd, bool whole);
/* Where functions overlap, the one added last is returned.  The name lives until the next add. */
int jit_symbols__find(const struct jit_symbols *s, uint64_t addr, struct elf_symbol *ret_symbol);
/* The number of lines and records skipped. */
uint64_t jit_symbols__bad(const struct jit_symbols *s);

/* ---- /proc/PID/maps -------------------------------------------------------------------------- */

struct proc_mapping {
	uint64_t start, end, offset, inode;
	uint32_t dev_major, dev_minor;
	char perms[5];
	bool deleted; /* the path ended in " (deleted)" */
	const char *path; /* octal escapes decoded; "" none; lives until the next line */
};
/* Parses one line of /proc/PID/maps (without its newline, modified in place); -EINVAL: invalid. */
int proc_mapping__parse(char *line, struct proc_mapping *ret_mapping);

#endif /* SYMBOLS_USYMS_H */
