/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What unwind tables need of an ELF file: its code's place in the file, and bytes of it, by section
 * or by address; in a file, an image of one, or an image as the loader lays it out.
 */
#ifndef UNWIND_ELF_IMAGE_H
#define UNWIND_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf_file.h"

#define UNW_MAX_SEGMENTS 64
#define UNW_MAX_BYTES (256u << 20) /* read at once */

struct unw_segment { /* PT_LOAD, what the file has of it */
	uint64_t vaddr, offset, size;
	bool exec;
};

struct unw_elf {
	struct elf_file file;
	bool mapped;
	unsigned int nr_segments;
	struct unw_segment segments[UNW_MAX_SEGMENTS];
};

/* Bytes of a file; to be dropped. */
struct unw_bytes {
	const uint8_t *p;
	size_t len;
	void *own; /* NULL: they belong to the image */
};

/* -ENOEXEC: no executable or library of this machine; -EIO, -ENOMEM. */
int unw_elf__open_fd(struct unw_elf *elf, int fd);
int unw_elf__open_image(struct unw_elf *elf, const void *image, size_t len, bool mapped);
void unw_elf__close(struct unw_elf *elf);

/* The first program header of that type; NULL. */
const Elf64_Phdr *unw_elf__phdr(const struct unw_elf *elf, uint32_t type);

/* All of [offset, +len) of the file; -ERANGE: it has less. */
int unw_elf__read(const struct unw_elf *elf, uint64_t offset, uint64_t len,
		  struct unw_bytes *ret_bytes);
/* [vaddr, +len), at least one byte of it, as much as its segment has.  -ERANGE. */
int unw_elf__read_vaddr(const struct unw_elf *elf, uint64_t vaddr, uint64_t len,
			struct unw_bytes *ret_bytes);
void unw_bytes__drop(struct unw_bytes *b);

/*
 * A part of a file that is read as it is asked for: in order but for some places that are asked for
 * again and again.  The rest need not be held.
 */
#define UNW_WINDOW_SHIFT 12
#define UNW_WINDOW_MAX (1u << UNW_WINDOW_SHIFT) /* bytes that can be asked for */
#define UNW_WINDOWS 128

struct unw_part {
	const struct unw_elf *elf; /* borrowed */
	uint64_t offset, len; /* in the file */
	struct {
		uint8_t *bytes; /* from 4 KiB of the part, and 4 KiB more */
		uint64_t page; /* which these are */
	} windows[UNW_WINDOWS];
};

/* [at, +len) of the part until the next call, or as much as there is: *ret_len.  NULL: nothing. */
const uint8_t *unw_part__get(struct unw_part *part, uint64_t at, size_t len, size_t *ret_len);
void unw_part__close(struct unw_part *part);

/* The executable segment that holds vaddr; NULL. */
const struct unw_segment *unw_elf__code(const struct unw_elf *elf, uint64_t vaddr);

/*
 * Puts each address that the loader fills in, where and what, to fn, until that returns true; of a
 * few sections: sound files have one or two.
 */
typedef bool (*unw_relocation_fn)(void *ctx, uint64_t vaddr, uint64_t value);
void unw_elf__each_relocation(const struct unw_elf *elf, unw_relocation_fn fn, void *ctx);

/* Its bytes, decompressed (SHF_COMPRESSED, and .zdebug_).  -EBADMSG, -EOPNOTSUPP, -ERANGE. */
int unw_elf__section_bytes(const struct unw_elf *elf, const Elf64_Shdr *s,
			   struct unw_bytes *ret_bytes);

#endif /* UNWIND_ELF_IMAGE_H */
