/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of an ELF file that unwind tables need: where its code is in the file, and its bytes,
 * by section or by address.  Reads a file, an image of a file, or an image as the loader maps it.
 */
#ifndef UNWIND_ELF_IMAGE_H
#define UNWIND_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf_file.h"

#define UNW_MAX_SEGMENTS 64
#define UNW_MAX_BYTES (256u << 20) /* read at once */

struct unw_segment { /* PT_LOAD, the part that is in the file */
	uint64_t vaddr, offset, size;
	bool exec;
};

struct unw_elf {
	struct elf_file file;
	bool mapped;
	unsigned int nr_segments;
	struct unw_segment segments[UNW_MAX_SEGMENTS];
};

/* Bytes of a file; release them by unw_bytes__drop(). */
struct unw_bytes {
	const uint8_t *p;
	size_t len;
	void *own; /* NULL: they belong to the image */
};

/* -ENOEXEC: not an executable or library of this machine; -EIO, -ENOMEM. */
int unw_elf__open_fd(struct unw_elf *elf, int fd);
int unw_elf__open_image(struct unw_elf *elf, const void *image, size_t len, bool mapped);
void unw_elf__close(struct unw_elf *elf);

/* The first program header of that type, or NULL. */
const Elf64_Phdr *unw_elf__phdr(const struct unw_elf *elf, uint32_t type);

/* Reads all of [offset, +len) of the file; -ERANGE: the file is shorter. */
int unw_elf__read(const struct unw_elf *elf, uint64_t offset, uint64_t len,
		  struct unw_bytes *ret_bytes);
/* Reads [vaddr, +len), or as much of it as its segment has, at least one byte.  -ERANGE. */
int unw_elf__read_vaddr(const struct unw_elf *elf, uint64_t vaddr, uint64_t len,
			struct unw_bytes *ret_bytes);
void unw_bytes__drop(struct unw_bytes *b);

/*
 * A part of a file that is read on demand: mostly in order, except for some places that are read
 * again and again.  The rest need not be in memory.
 */
#define UNW_WINDOW_SHIFT 12
#define UNW_WINDOW_MAX (1u << UNW_WINDOW_SHIFT) /* maximum bytes of a request */
#define UNW_WINDOWS 128

struct unw_part {
	const struct unw_elf *elf; /* borrowed */
	uint64_t offset, len; /* in the file */
	struct {
		uint8_t *bytes; /* 4 KiB of the part, and the next 4 KiB */
		uint64_t page; /* number of the first */
	} windows[UNW_WINDOWS];
};

/* [at, +len) of the part, or less: *ret_len; valid until the next call.  NULL: nothing. */
const uint8_t *unw_part__get(struct unw_part *part, uint64_t at, size_t len, size_t *ret_len);
void unw_part__close(struct unw_part *part);

/* The executable segment that contains vaddr, or NULL. */
const struct unw_segment *unw_elf__code(const struct unw_elf *elf, uint64_t vaddr);

/*
 * Calls fn with each address that the loader fills in, and its value, until fn returns true.  Reads
 * only a few sections: valid files have one or two.
 */
typedef bool (*unw_relocation_fn)(void *ctx, uint64_t vaddr, uint64_t value);
void unw_elf__each_relocation(const struct unw_elf *elf, unw_relocation_fn fn, void *ctx);

/* The section's bytes, decompressed (SHF_COMPRESSED, .zdebug_).  -EBADMSG, -EOPNOTSUPP, -ERANGE. */
int unw_elf__section_bytes(const struct unw_elf *elf, const Elf64_Shdr *s,
			   struct unw_bytes *ret_bytes);

#endif /* UNWIND_ELF_IMAGE_H */
