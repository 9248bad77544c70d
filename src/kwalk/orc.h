/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The kernel's ORC tables, compiled to the table of kwalk_layout.h.
 *
 * struct orc_entry is no ABI: 6.1 has two bits of type and `end`, 6.3 `signal`, and since 6.4 the
 * type has three bits and says the end and what is undefined.  Its layout comes from the kernel's
 * BTF.
 */
#ifndef KWALK_ORC_H
#define KWALK_ORC_H

#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>

#include "kwalk_layout.h"

#define ORC_ENTRY_SIZE 6
#define ORC_MAX_ENTRIES (1u << 23)

/* A bit field of the word behind the two offsets; no bits: there is no such field. */
struct orc_field {
	unsigned int shift, bits;
};

struct orc_layout {
	struct orc_field sp_reg, bp_reg, type, signal, end;
};

/* -ENOTSUP, after a message: the entries are not of a form known here. */
int orc_layout__read(const struct btf *btf, struct orc_layout *ret_layout);

/*
 * The kernel's hash of what its entries mean, registers and types included.  -ENOTSUP, after a
 * message: it is not one of those known here.
 */
#define ORC_HEADER_SIZE 20
int orc_header__check(const uint8_t header[ORC_HEADER_SIZE]);

/* As the kernel has them; addresses ascend. */
struct orc_tables {
	const struct orc_layout *layout;
	const int32_t *ips; /* each relative to its own place */
	uint64_t ips_at; /* where the first one lies in the kernel */
	const void *entries; /* ORC_ENTRY_SIZE bytes each */
	size_t nr;
	uint64_t text, text_end; /* what is compiled */
};

struct orc_compiled {
	struct kwalk_block *index;
	struct kwalk_row *rows;
	uint32_t nr_blocks, nr_rows;
};

/*
 * -EBADMSG, after a message: no kernel has such tables.  -ENOMEM.  ret_compiled is then untouched.
 */
int orc__compile(const struct orc_tables *t, struct orc_compiled *ret_compiled);
void orc_compiled__free(struct orc_compiled *c);

/*
 * The same piece by piece, into memory of the caller's, which has room for what orc__bounds() says:
 * where a page costs more to touch than to fill, a copy of the whole table is dear.
 */
struct orc_compiler {
	const struct orc_tables *t; /* without ips and entries */
	struct orc_compiled c; /* index and rows are set before, the index is all 0 */
	uint32_t rule; /* that holds where the table ends so far */
	uint64_t end; /* of the blocks that were begun */
	uint64_t last; /* address */
	size_t nr; /* entries so far */
};

/* -EBADMSG as above.  How large the memory must be. */
int orc__bounds(const struct orc_tables *t, uint32_t *ret_blocks, uint32_t *ret_rows);
void orc_compiler__begin(struct orc_compiler *c);
/* The next nr of the entries: -EBADMSG as above. */
int orc_compiler__add(struct orc_compiler *c, const int32_t *ips, const void *entries, size_t nr);
void orc_compiler__end(struct orc_compiler *c);

#endif /* KWALK_ORC_H */
