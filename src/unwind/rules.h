/* SPDX-License-Identifier: GPL-2.0-only */
/* The state that a source gives for an address, and its encoding as a rule of table.h. */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "index.h"
#include "table.h"

/* The registers whose places in the caller's frame are tracked. */
enum unw_of { UNW_OF_BX, UNW_OF_FP, UNW_OF_SP, UNW_OF_RA, UNW_NR_OF };

enum unw_how {
	UNW_SAME, /* still in the register; of the stack pointer: it is the CFA */
	UNW_AT_CFA, /* saved at CFA + off */
	UNW_AT_FP, /* saved at this frame's frame pointer + off */
	UNW_AT_SP, /* saved at this frame's stack pointer + off */
	UNW_IN_REG, /* of the return address: in the register of DWARF number off */
	UNW_LOST, /* saved where a rule cannot express it */
	UNW_UNDEFINED, /* not saved */
};

struct unw_place {
	enum unw_how how;
	int64_t off;
};

#define UNW_CFA_UNKNOWN 255 /* in addition to enum unw_cfa */

struct unw_state {
	uint8_t cfa; /* enum unw_cfa */
	uint8_t cfa_reg; /* DWARF number */
	int64_t cfa_off, cfa_add; /* like those of struct unw_place not range-checked yet */
	struct unw_place regs[UNW_NR_OF];
	bool signal;
};

/* The 64-bit rules of a table, each once. */
struct unw_rules {
	uint64_t *v;
	uint32_t nr, cap;
	struct index index;
	uint64_t seed; /* of the hash: files choose the rules */
};

void unw_rules__free(struct unw_rules *r);
/* Returns the 20-bit rule; UNW_ESCAPE | UNW_NONE if a rule cannot express it.  -ENOMEM. */
int unw_rules__encode(struct unw_rules *r, const struct unw_state *s, uint32_t *ret_rule);

#endif /* UNWIND_RULES_H */
