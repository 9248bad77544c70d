/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel's array of struct page begins, for the number of a page in events. */
#ifndef RECORD_NATIVE_PAGES_H
#define RECORD_NATIVE_PAGES_H

#include <stdint.h>

#include "native_code.h"

struct btf;

/*
 * The address of the struct page of page 0, for native_code__set_pages(): no file has it, and it
 * changes with each boot.  A page of a file of our own is looked up both in /proc/self/pagemap,
 * which has its number, and in the kernel's memory, by a program that is run once.  -EOPNOTSUPP:
 * the kernel's types are unexpected, or the page's number is hidden; other errors as of the calls.
 */
int native_pages__find(const struct btf *btf, uint64_t *ret_address);

/* What that found, when the first event needed it. */
struct native_pages {
	bool looked;
	int err;
	uint64_t address;
};

/* Sets it in code that needs it.  -EOPNOTSUPP: it is unknown, for the reason in ret_why. */
int native_pages__set(struct native_pages *pages, const struct btf *btf, struct native_code *code,
		      char ret_why[NATIVE_WHY]);

#endif /* RECORD_NATIVE_PAGES_H */
