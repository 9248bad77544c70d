/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of unwind tables, one space of u32 words in the kernel and here.  It grows in slabs:
 * each is a BPF array of its own, an element of the map `slabs`, and mapped here behind the one
 * before it.
 */
#ifndef RECORD_TABLE_SLABS_H
#define RECORD_TABLE_SLABS_H

#include <stdbool.h>
#include <stdint.h>

struct table_slabs;

/* slabs_fd: the map `slabs`; -1: memory of this process only.  budget in bytes, rounded up to slabs. */
int table_slabs__new(int slabs_fd, uint64_t budget, struct table_slabs **ret_tables);
void table_slabs__free(struct table_slabs *t);

/*
 * Room for a table, placed as unwind/table.h asks for; an address is never 0.  -ENOSPC: the budget
 * has none left; -E2BIG: it would not have even if it were empty; or an errno of making a slab.
 */
int table_slabs__alloc(struct table_slabs *t, uint32_t nr_words, uint32_t *ret_addr);
/* No BPF program may be reading it any more. */
void table_slabs__release(struct table_slabs *t, uint32_t addr, uint32_t nr_words);

uint32_t *table_slabs__words(const struct table_slabs *t, uint32_t addr);
/* Bytes that so many words take. */
uint64_t table_slabs__size(uint32_t nr_words);
uint64_t table_slabs__bytes(const struct table_slabs *t); /* in use */
uint64_t table_slabs__max_bytes(const struct table_slabs *t);

#endif /* RECORD_TABLE_SLABS_H */
