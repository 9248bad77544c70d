/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Compiles the kernel's ORC tables to the table of kwalk_layout.h.
 *
 * struct orc_entry is not an ABI: 6.1 has a type of two bits and `end`, 6.3 has `signal`, and since
 * 6.4 the type has three bits, which include the end and the undefined case.  Its layout is read
 * from the kernel's BTF.
 */
#ifndef KWALK_ORC_H
#define KWALK_ORC_H

#include <stddef.h>
#include <stdint.h>

#include <bpf/btf.h>

#include "kwalk_layout.h"

#define ORC_ENTRY_SIZE 6
#define ORC_MAX_ENTRIES (1u << 23)

/* A bit field of the word after the two offsets; no bits: the field does not exist. */
struct orc_field {
	unsigned int shift, bits;
};

struct orc_layout {
	struct orc_field sp_reg, bp_reg, type, signal, end;
};

/* -ENOTSUP, after a message: the form of the entries is unknown. */
int orc_layout__read(const struct btf *btf, struct orc_layout *ret_layout);

/*
 * The kernel's hash of the meaning of its entries, including registers and types.  -ENOTSUP, after
 * a message: the hash is not a known one.
 */
#define ORC_HEADER_SIZE 20
int orc_header__check(const uint8_t header[ORC_HEADER_SIZE]);

/* The tables as the kernel stores them; addresses ascend. */
struct orc_tables {
	const struct orc_layout *layout;
	const int32_t *ips; /* each relative to its own address */
	uint64_t ips_at; /* address of the first one in the kernel */
	const void *entries; /* ORC_ENTRY_SIZE bytes each */
	size_t nr;
	uint64_t text, text_end; /* the range to compile */
};

struct orc_compiled {
	struct kwalk_block *index;
	struct kwalk_row *rows;
	uint32_t nr_blocks, nr_rows;
};

/*
 * -EBADMSG, after a message: the tables are invalid.  -ENOMEM.  ret_compiled is then untouched.
 */
int orc__compile(const struct orc_tables *t, struct orc_compiled *ret_compiled);
void orc_compiled__free(struct orc_compiled *c);

/*
 * The same piece by piece, into the caller's memory, which must have the size that orc__bounds()
 * returns: a copy of the whole table is expensive where touching a page costs more than filling it.
 */
struct orc_compiler {
	const struct orc_tables *t; /* without ips and entries */
	struct orc_compiled c; /* the caller sets index and rows before; the index is all 0 */
	uint32_t rule; /* at the end of the table so far */
	uint64_t end; /* of the blocks so far */
	uint64_t last; /* address */
	size_t nr; /* entries so far */
};

/* The size that the memory must have.  -EBADMSG as above. */
int orc__bounds(const struct orc_tables *t, uint32_t *ret_blocks, uint32_t *ret_rows);
void orc_compiler__begin(struct orc_compiler *c);
/* Adds the next nr entries.  -EBADMSG as above. */
int orc_compiler__add(struct orc_compiler *c, const int32_t *ips, const void *entries, size_t nr);
void orc_compiler__end(struct orc_compiler *c);

#endif /* KWALK_ORC_H */
