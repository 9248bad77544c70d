/* SPDX-License-Identifier: GPL-2.0-only */
/* Decompresses sections. */
#ifndef UNWIND_INFLATE_H
#define UNWIND_INFLATE_H

#include <stddef.h>
#include <stdint.h>

struct unw_bytes;

#define UNW_MAX_INFLATED (64u << 20)

/* SHF_COMPRESSED: an Elf64_Chdr, then zlib or zstd.  -EBADMSG, -EOPNOTSUPP, -ERANGE, -ENOMEM. */
int unw_inflate(const uint8_t *p, size_t len, struct unw_bytes *ret_bytes);
/* .zdebug_*: "ZLIB", the size as u64 big endian, then zlib. */
int unw_inflate_gnu(const uint8_t *p, size_t len, struct unw_bytes *ret_bytes);

#endif /* UNWIND_INFLATE_H */
