/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of unwind tables: one address space of u32 words, the same in the kernel and here.  It
 * grows by slabs.  Each slab is a BPF array in the map `slabs`, and is mapped here after the
 * previous one.
 */
#ifndef RECORD_TABLE_SLABS_H
#define RECORD_TABLE_SLABS_H

#include <stdbool.h>
#include <stdint.h>

struct table_slabs;

/* slabs_fd: the map `slabs`; -1: private memory.  budget: bytes, rounded up to whole slabs. */
int table_slabs__new(int slabs_fd, uint64_t budget, struct table_slabs **ret_tables);
void table_slabs__free(struct table_slabs *t);

/*
 * Allocates room for a table, aligned as unwind/table.h requires; an address is never 0.  -ENOSPC:
 * the budget is exhausted; -E2BIG: the table exceeds the whole budget; or a negative errno of
 * creating a slab.
 */
int table_slabs__alloc(struct table_slabs *t, uint32_t nr_words, uint32_t *ret_addr);
/*
 * From now on the BPF programs do not see new slabs until table_slabs__publish(), which waits for
 * the kernel once for all of them.
 */
void table_slabs__hold(struct table_slabs *t);
int table_slabs__publish(struct table_slabs *t);
/* The caller ensures that no BPF program reads the table any more. */
void table_slabs__release(struct table_slabs *t, uint32_t addr, uint32_t nr_words);

uint32_t *table_slabs__words(const struct table_slabs *t, uint32_t addr);
/* Bytes that nr_words occupy. */
uint64_t table_slabs__size(uint32_t nr_words);
uint64_t table_slabs__bytes(const struct table_slabs *t); /* in use */
uint64_t table_slabs__max_bytes(const struct table_slabs *t);

#endif /* RECORD_TABLE_SLABS_H */
