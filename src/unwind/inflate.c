// SPDX-License-Identifier: GPL-2.0-only
/* Unpacks compressed sections. */
#include "inflate.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "cleanup.h"
#include "elf_image.h"

#define CH_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */

/* Decompresses exactly size bytes; any other length is an error. */
static int decompress(uint32_t type, const uint8_t *p, size_t len, uint64_t size,
		      struct unw_bytes *ret_bytes)
{
	_cleanup_free_ uint8_t *out = NULL;
	uLongf got = size;

	if (type != ELFCOMPRESS_ZLIB && type != CH_ZSTD)
		return -EOPNOTSUPP;
	if (size > UNW_MAX_INFLATED)
		return -ERANGE;
	out = malloc(size + !size);
	if (!out)
		return -ENOMEM;
	if (type == CH_ZSTD)
		got = ZSTD_decompress(out, size, p, len);
	else if (uncompress(out, &got, p, len) != Z_OK)
		return -EBADMSG;
	if (got != size)
		return -EBADMSG;
	*ret_bytes = (struct unw_bytes){ out, size, out };
	out = NULL;
	return 0;
}

int unw_inflate(const uint8_t *p, size_t len, struct unw_bytes *ret_bytes)
{
	Elf64_Chdr h;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	return decompress(h.ch_type, p + sizeof(h), len - sizeof(h), h.ch_size, ret_bytes);
}

int unw_inflate_gnu(const uint8_t *p, size_t len, struct unw_bytes *ret_bytes)
{
	uint64_t size;

	if (len < 12 || memcmp(p, "ZLIB", 4))
		return -EBADMSG;
	memcpy(&size, p + 4, 8);
	return decompress(ELFCOMPRESS_ZLIB, p + 12, len - 12, __builtin_bswap64(size), ret_bytes);
}
