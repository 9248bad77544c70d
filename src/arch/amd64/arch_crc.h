/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* CRC32C by the crc32 instruction, which all but the oldest amd64 processors have. */
#ifndef ARCH_CRC_H
#define ARCH_CRC_H

#include <nmmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool arch_crc__available(void)
{
	return __builtin_cpu_supports("sse4.2");
}

/* crc is inverted, both the argument and the result. */
__attribute__((target("sse4.2"))) static inline uint32_t arch_crc__add(uint32_t crc,
								       const uint8_t *p, size_t n)
{
	uint64_t c = crc, v;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		c = _mm_crc32_u64(c, v);
	}
	for (; n; n--)
		c = _mm_crc32_u8(c, *p++);
	return c;
}

#endif /* ARCH_CRC_H */
