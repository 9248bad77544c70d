// SPDX-License-Identifier: GPL-2.0-only
/* MiniDebugInfo: an xz-compressed ELF file in .gnu_debugdata that holds the local functions. */
#include "elf_table.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define MAX_PACKED (64u << 20)
#define MAX_UNPACKED (256u << 20)
#define MAX_MEMORY (128u << 20) /* of the decoder: xz -9 takes 65 MB */

/* Grows the output buffer; false: too large. */
static bool output_grow(lzma_stream *xz, uint8_t **data, size_t *cap)
{
	size_t more = *cap ? *cap * 2 : 64u << 10;
	uint8_t *grown;

	if (more > MAX_UNPACKED)
		return false;
	grown = realloc(*data, more);
	if (!grown)
		return false;
	*data = grown;
	xz->next_out = grown + *cap;
	xz->avail_out = more - *cap;
	*cap = more;
	return true;
}

static int unpack(const char *packed, size_t len, uint8_t **ret_data, size_t *ret_len)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	_cleanup_free_ uint8_t *data = NULL;
	lzma_ret ret = LZMA_OK;
	size_t cap = 0;

	if (lzma_stream_decoder(&xz, MAX_MEMORY, 0) != LZMA_OK)
		return -ENOMEM;
	xz.next_in = (const uint8_t *)packed;
	xz.avail_in = len;
	while (ret == LZMA_OK) {
		if (!xz.avail_out && !output_grow(&xz, &data, &cap))
			break;
		ret = lzma_code(&xz, LZMA_FINISH);
	}
	lzma_end(&xz);
	if (ret != LZMA_STREAM_END)
		return -EBADMSG;
	*ret_len = cap - xz.avail_out;
	*ret_data = take_ptr(data);
	return 0;
}

int elf_debugdata__add(struct elf_symbols *s, const struct elf_file *exe)
{
	const Elf64_Shdr *section = elf_file__section(exe, ".gnu_debugdata");
	_cleanup_free_ uint8_t *image = NULL;
	_cleanup_free_ char *packed = NULL;
	struct elf_file mini;
	size_t len;
	int err;

	if (!section)
		return -ENOENT;
	if (section->sh_size > MAX_PACKED)
		return -EFBIG;
	err = elf_file__load(exe, section->sh_offset, section->sh_size, &packed);
	err = err ?: unpack(packed, section->sh_size, &image, &len);
	err = err ?: elf_file__from_image(image, len, &mini);
	if (err)
		return err;
	err = elf_file__load_sections(&mini);
	if (!err)
		err = elf_symtab__add(s, exe, &mini);
	elf_file__done(&mini);
	return err;
}
