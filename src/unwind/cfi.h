/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call frame information: .eh_frame (LSB 5.0 core, 10.6; the augmentations z R P L S) and
 * .debug_frame (DWARF 5, 6.4).
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "builder.h"
#include "cursor.h"
#include "elf_image.h"
#include "rules.h"
#include "units.h"

#define UNW_CIE_CACHE 16

struct unw_cie {
	uint64_t pos; /* position in the section + 1; 0: unused */
	bool ok; /* its FDEs can be read */
	bool sized; /* the augmentation data has a length ('z') */
	uint8_t encoding; /* of the addresses in FDEs, DW_EH_PE_... */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	struct unw_state initial;
};

/* A section, and the last CIEs used: files with many CIEs use them in runs. */
struct unw_cfi {
	struct unw_bytes bytes;
	uint64_t vaddr;
	uint64_t base; /* DW_EH_PE_datarel: address of .eh_frame_hdr, 0: unknown */
	uint64_t max_fdes;
	uint64_t cie_work; /* bytes of CIEs read, including repeated reads */
	bool eh;
	bool stop_at_zero; /* the section's size is unknown: a length of 0 ends it */
	struct unw_cie cies[UNW_CIE_CACHE];
};

struct unw_fde {
	const struct unw_cie *cie; /* valid until the next call with this section */
	uint64_t start, end; /* addresses, start < end */
	struct cursor insns;
};

/* -ENOENT: the file has no such section. */
int unw_cfi__open_eh(const struct unw_elf *elf, struct unw_cfi *ret_cfi);
int unw_cfi__open_debug(const struct unw_elf *elf, struct unw_cfi *ret_cfi);
void unw_cfi__close(struct unw_cfi *cfi);

/*
 * Iterates over the section: calls fn with the position and the decoded FDE of each FDE entry,
 * until it returns a value other than 0.
 */
int unw_cfi__each(struct unw_cfi *cfi,
		  int (*fn)(void *ctx, uint64_t pos, const struct unw_fde *fde), void *ctx);
/* Reads the FDE at a position that unw_cfi__each() reported. */
bool unw_cfi__fde(struct unw_cfi *cfi, uint64_t pos, struct unw_fde *ret_fde);

/*
 * Runs the FDE's program and adds the rows to the builder's current range, as addresses + delta.
 * *unknown counts rows without a rule.  -ENOMEM.
 */
int unw_cfi__run(struct unw_cfi *cfi, const struct unw_fde *fde, uint64_t delta,
		 struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown);

/* For cfi.c: reads an address of the given encoding; false: it cannot be read. */
bool unw_cfi__address(const struct unw_cfi *cfi, uint8_t encoding, struct cursor *c,
		      uint64_t *ret_addr);
/* Runs the initial instructions of a CIE; false: they are invalid. */
bool unw_cfi__initial(const struct unw_cfi *cfi, struct unw_cie *cie, struct cursor insns);

#endif /* UNWIND_CFI_H */
