/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What kwalk.c and modules.c share. */
#ifndef KWALK_PRIV_H
#define KWALK_PRIV_H

#include <stdbool.h>

#include "kwalk.h"
#include "kwalk_copy.h"
#include "orc.h"

/* Tables of all modules, concatenated; blocks and rows count from 0 here. */
struct module_tables {
	struct kwalk_module *modules;
	struct kwalk_block *index;
	struct kwalk_row *rows;
	uint32_t nr, nr_blocks, nr_rows;
	uint32_t coming; /* modules left out because their init has not returned */
};

#define KWALK_TRIES 3 /* to read the list of modules */

struct kwalk {
	struct kwalk_copy_bpf *skel;
	struct orc_layout layout;
	struct kwalk_settings is; /* what this kernel is like; without frames and checks */
	int index_fd, rows_fd; /* maps; 0: none */
	struct kwalk_block *index; /* their memory */
	struct kwalk_row *rows;
	uint32_t max_blocks, max_rows;
	uint32_t nr_blocks, nr_rows; /* of the kernel's own text; those of modules follow */
	struct kwalk_module_layout module;
	uint64_t modules_at; /* the kernel's list of modules; 0: unknown */
	uint32_t room_blocks, room_rows; /* for tables of modules */
	/* once started */
	struct bpf_link *links[2]; /* of module_load and module_free */
	struct kwalk_modules *modules; /* NULL: modules are not followed */
	uint32_t coming; /* number of loading modules when the tables were last read */
	unsigned int errors; /* in a row, while following modules */
	bool failed; /* that failed and is not tried again */
};

/* All 0: the layout of this kernel's struct module is unknown, or it has no modules. */
void module_layout__read(const struct btf *btf, struct kwalk_module_layout *ret_layout);

/* Copies kernel memory; the caller frees *ret_bytes. */
int kwalk__copy_kernel(struct kwalk_copy_bpf *skel, uint64_t from, size_t len, void **ret_bytes);

/*
 * Reads the tables of all loaded modules.  Modules that cannot be read or exceed the room are left
 * out: the kernel takes the stacks that pass through them.  Modules that are not live are left out
 * as well, because the kernel raises no event when it frees a module whose init failed.
 */
int module_tables__read(const struct kwalk *k, uint32_t room_blocks, uint32_t room_rows,
			struct module_tables *ret_tables);
void module_tables__free(struct module_tables *t);

#endif /* KWALK_PRIV_H */
