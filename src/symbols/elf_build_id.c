// SPDX-License-Identifier: GPL-2.0-only
/* Finds the GNU build id, in the notes of the segments or else of the sections. */
#include "usyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "elf_file.h"

#define MAX_ID 64
#define MAX_NOTES (1u << 20) /* bytes of a segment that are searched */
#define MAX_TRIES 64 /* note segments and sections searched */

static uint64_t align_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}

/* Finds the build id among the notes; false if absent. */
static bool notes_search(const char *notes, uint64_t len, uint64_t align, uint8_t *ret_id,
			 unsigned int *ret_len)
{
	uint64_t at = 0;

	while (at < len && len - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name = at + sizeof(note), desc;

		memcpy(&note, notes + at, sizeof(note));
		desc = align_up(name + note.n_namesz, align);
		if (desc > len || note.n_descsz > len - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof("GNU") &&
		    !memcmp(notes + name, "GNU", sizeof("GNU")) && note.n_descsz &&
		    note.n_descsz <= MAX_ID) {
			memcpy(ret_id, notes + desc, note.n_descsz);
			*ret_len = note.n_descsz;
			return true;
		}
		at = align_up(desc + note.n_descsz, align);
	}
	return false;
}

/* 0: found; -ENOENT. */
static int notes_read(const struct elf_file *f, uint64_t off, uint64_t len, uint64_t align,
		      uint8_t *ret_id, unsigned int *ret_len)
{
	_cleanup_free_ char *notes = NULL;
	int err;

	err = elf_file__load(f, off, MIN(len, (uint64_t)MAX_NOTES), &notes);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	len = MIN(len, (uint64_t)MAX_NOTES);
	/* Some linkers put notes of alignment 4 into segments of alignment 8. */
	if ((align == 8 && notes_search(notes, len, 8, ret_id, ret_len)) ||
	    notes_search(notes, len, 4, ret_id, ret_len))
		return 0;
	return -ENOENT;
}

static int build_id(struct elf_file *f, uint8_t *ret_id, unsigned int *ret_len)
{
	unsigned int i, tries = 0;
	int err = -ENOENT;

	for (i = 0; i < f->nr_phdrs && err == -ENOENT; i++) {
		if (f->phdrs[i].p_type == PT_NOTE && tries++ < MAX_TRIES)
			err = notes_read(f, f->phdrs[i].p_offset, f->phdrs[i].p_filesz,
					 f->phdrs[i].p_align, ret_id, ret_len);
	}
	/* In debug files the segments have wrong offsets; objects have no segments. */
	if (err == -ENOENT)
		err = elf_file__load_sections(f) ?: -ENOENT;
	for (i = 0; i < f->nr_shdrs && err == -ENOENT; i++) {
		if (f->shdrs[i].sh_type == SHT_NOTE && tries++ < MAX_TRIES)
			err = notes_read(f, f->shdrs[i].sh_offset, f->shdrs[i].sh_size,
					 f->shdrs[i].sh_addralign, ret_id, ret_len);
	}
	return err;
}

int elf_build_id__from_fd(int fd, uint8_t ret_id[64], unsigned int *ret_len)
{
	struct elf_file f;
	int err = elf_file__from_fd(fd, &f);

	if (err)
		return err;
	err = build_id(&f, ret_id, ret_len);
	elf_file__done(&f);
	return err;
}

int elf_build_id__from_image(const void *image, size_t len, uint8_t ret_id[64],
			     unsigned int *ret_len)
{
	struct elf_file f;
	int err = elf_file__from_image(image, len, &f);

	if (err)
		return err;
	err = build_id(&f, ret_id, ret_len);
	elf_file__done(&f);
	return err;
}

int elf_build_id__from_notes(const void *notes, size_t len, uint8_t ret_id[64],
			     unsigned int *ret_len)
{
	return notes_search(notes, len, 4, ret_id, ret_len) ? 0 : -ENOENT;
}
