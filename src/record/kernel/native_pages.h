/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel's array of struct page begins, for the number of a page in events. */
#ifndef RECORD_NATIVE_PAGES_H
#define RECORD_NATIVE_PAGES_H

#include <stdint.h>

struct btf;

/*
 * The address of the struct page of page 0, for native_code__set_pages(): no file has it, and it
 * changes with each boot.  A page of a file of our own is looked up both in /proc/self/pagemap,
 * which has its number, and in the kernel's memory, by a program that is run once.  -EOPNOTSUPP:
 * the kernel's types are unexpected, or the page's number is hidden; other errors as of the calls.
 */
int native_pages__find(const struct btf *btf, uint64_t *ret_address);

#endif /* RECORD_NATIVE_PAGES_H */
