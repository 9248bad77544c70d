/* SPDX-License-Identifier: GPL-2.0-only */
/* The unwind tables of generated code: builds those of running processes again as code changes. */
#ifndef RECORD_JIT_TABLES_H
#define RECORD_JIT_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

struct jit_source;
struct jit_tables;
struct table_cache;
struct unwind_table;

/* So many windows of a program have tables; others are unwound by frame pointers. */
#define JIT_MAX_WINDOWS 256

/* entries: shared with the BPF programs; cache: takes the tables.  Both are borrowed. */
int jit_tables__new(const struct wire_file *entries, struct table_cache *cache,
		    struct jit_tables **ret_tables);
void jit_tables__free(struct jit_tables *t);

/* Adds the window of a file event, which is a new one.  Shares the source. */
int jit_tables__add(struct jit_tables *t, const struct wire_file_event *n,
		    struct jit_source *source);
/* Whether file id is a window that has been added, has tables, and may have stacks to be walked. */
bool jit_tables__has(const struct jit_tables *t, uint32_t id);
/* For a deferred stack that passes such a window: see jit_window__at(). */
const struct unwind_table *jit_tables__at(struct jit_tables *t, uint32_t id, uint64_t offset,
					  bool exact, uint64_t ts);
/* Brings the tables up to date; call it often. */
void jit_tables__poll(struct jit_tables *t);

#endif /* RECORD_JIT_TABLES_H */
