/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tagged files: programs and libraries that differ in one number, which is the address of their
 * futex calls (TAG_BASE + 4 * tag) and the start of their build id.  An event therefore identifies
 * the file of its code, whatever its path and address.
 */
#ifndef STACKONCE_TEST_TAG_H
#define STACKONCE_TEST_TAG_H

#include <stdint.h>

#define TAG_BASE 0x400000000000ULL
#define TAG_MAX (1u << 24)
#define TAG_MAGIC "\x8fstkTAG\x01"

struct tag_block {
	char magic[8];
	uint64_t tag;
};

/* Writes a tagged file with another tag: in place if path exists. */
int tag__write(const char *template, const char *path, uint64_t tag);
/* The same for a copy in memory. */
int tag__set(void *image, uint64_t len, uint64_t tag);

#endif /* STACKONCE_TEST_TAG_H */
