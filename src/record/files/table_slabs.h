/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of unwind tables, one space of u32 words in the kernel and here.  It grows in slabs:
 * each is a BPF array of its own, an element of the map `slabs`, and mapped here behind the one
 * before it.
 */
#ifndef RECORD_TABLES_H
#define RECORD_TABLES_H

#include <stdbool.h>
#include <stdint.h>

struct tables;

/* slabs_fd: the map `slabs`; -1: memory of this process only.  budget in bytes, rounded up to slabs. */
int tables__new(int slabs_fd, uint64_t budget, struct tables **ret_tables);
void tables__free(struct tables *t);

/*
 * Room for a table, placed as unwind/table.h asks for; an address is never 0.  -ENOSPC: the budget
 * has none left; -E2BIG: it would not have even if it were empty; or an errno of making a slab.
 */
int tables__alloc(struct tables *t, uint32_t nr_words, uint32_t *ret_addr);
/* No BPF program may be reading it any more. */
void tables__release(struct tables *t, uint32_t addr, uint32_t nr_words);

uint32_t *tables__words(const struct tables *t, uint32_t addr);
/* Bytes that so many words take. */
uint64_t tables__size(uint32_t nr_words);
uint64_t tables__bytes(const struct tables *t); /* in use */
uint64_t tables__max_bytes(const struct tables *t);

#endif /* RECORD_TABLES_H */
