/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The short identifier of a file that `--ids` and `stackonce maps` print.  It is the same for the
 * same build on every machine: FNV-1a of the build id or content hash, or, if the file has
 * neither, of its path, size and mtime.
 */
#ifndef FILE_HASH_H
#define FILE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FILE_HASH_CONTENT_MAX (64u << 20) /* bytes; larger files are not hashed by content */

static inline uint32_t file_hash_bytes(uint32_t h, const void *data, size_t len)
{
	const unsigned char *p = (const unsigned char *)data;

	while (len--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

/* id is a build id or content hash of id_len bytes, or NULL and 0. */
static inline uint32_t file_hash(const uint8_t *id, size_t id_len, const char *path, uint64_t size,
				 uint64_t mtime_ns)
{
	uint32_t h = 2166136261u;

	if (id_len)
		return file_hash_bytes(h, id, id_len);
	h = file_hash_bytes(h, path, strlen(path));
	for (int i = 0; i < 8; i++, size >>= 8)
		h = (h ^ (size & 0xff)) * 16777619u;
	for (int i = 0; i < 8; i++, mtime_ns >>= 8)
		h = (h ^ (mtime_ns & 0xff)) * 16777619u;
	return h;
}

#endif /* FILE_HASH_H */
