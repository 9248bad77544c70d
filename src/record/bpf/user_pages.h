/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the kernel has all memory mapped, so that programs can look at words of user memory. */
#ifndef RECORD_USER_PAGES_H
#define RECORD_USER_PAGES_H

#include <stdint.h>
#include <stdio.h>

#include "wire.h"

/*
 * prog: a program that tries the place of *search and sets *pages.  It is run until it finds random
 * words in the memory of this process.  pages->base stays 0 if there is no such place: where
 * entries of page tables are not plain addresses, as in an encrypted or a paravirtual guest, or
 * where this process may not see how large the memory is.
 */
void user_pages__find(int prog, struct wire_page_search *search, struct wire_pages *pages);

/* The end of the RAM in the text of /proc/iomem; 0: unknown. */
uint64_t user_pages__ram_end(FILE *iomem);

#endif /* RECORD_USER_PAGES_H */
