/* SPDX-License-Identifier: GPL-2.0-only */
/* What a source knows of a place in the code, and how it becomes a rule of table.h. */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "index.h"
#include "table.h"

/* The registers whose places in the caller's frame are followed. */
enum unw_of { UNW_OF_BX, UNW_OF_FP, UNW_OF_SP, UNW_OF_RA, UNW_NR_OF };

enum unw_how {
	UNW_SAME, /* still in the register; of the stack pointer: it is the CFA */
	UNW_AT_CFA, /* saved at CFA + off */
	UNW_AT_FP, /* saved at this frame's frame pointer + off */
	UNW_AT_SP, /* the same of the stack pointer */
	UNW_IN_REG, /* of the return address: in the register of DWARF number off */
	UNW_LOST, /* somewhere, but not where a rule could say */
	UNW_UNDEFINED, /* nowhere */
};

struct unw_place {
	enum unw_how how;
	int64_t off;
};

#define UNW_CFA_UNKNOWN 255 /* beside enum unw_cfa */

struct unw_state {
	uint8_t cfa; /* enum unw_cfa */
	uint8_t cfa_reg; /* DWARF number */
	int64_t cfa_off, cfa_add; /* as in struct unw_place: not in range yet */
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
/* The 20-bit rule; UNW_ESCAPE | UNW_NONE where no rule can say it.  -ENOMEM. */
int unw_rules__encode(struct unw_rules *r, const struct unw_state *s, uint32_t *ret_rule);

#endif /* UNWIND_RULES_H */
