// SPDX-License-Identifier: GPL-2.0-only
/* Turns what a source knows of a place into a rule of 20 or 64 bits. */
#include "rules.h"

#include <errno.h>
#include <stdlib.h>

#include "arch_regs.h"
#include "array.h"
#include "seeded_hash.h"

/* Offset of the saved stack pointer in a signal frame, from that in the sigreturn code. */
#define SIGNAL_SP (UNW_SIGNAL_OFF + 8 * UNW_SIGNAL_SP)

#define MAX_RULES (UNW_ESCAPE - UNW_ESCAPE_RULES)

void unw_rules__free(struct unw_rules *r)
{
	free(r->v);
	index__free(&r->index);
	*r = (struct unw_rules){ 0 };
}

static int intern(struct unw_rules *r, uint64_t rule, uint32_t *ret_rule)
{
	uint64_t hash;
	uint32_t i;

	r->seed = r->seed ?: seeded_hash__seed();
	hash = seeded_hash__u64(r->seed, r->seed, rule);
	index__for_each(&r->index, hash, i)
		if (r->v[i] == rule)
			break;
	if (i == INDEX_NONE && r->nr == MAX_RULES) {
		*ret_rule = UNW_ESCAPE | UNW_NONE;
		return 0;
	}
	if (i == INDEX_NONE) {
		if (array__grow(&r->v, r->nr, &r->cap) || index__add(&r->index, hash, r->nr))
			return -ENOMEM;
		i = r->nr++;
		r->v[i] = rule;
	}
	*ret_rule = UNW_ESCAPE | (UNW_ESCAPE_RULES + i);
	return 0;
}

static bool fits(int64_t v, int64_t limit)
{
	return v >= -limit && v < limit;
}

/* Converts the place to one relative to the CFA if both are relative to the same register. */
static struct unw_place from_cfa(const struct unw_state *s, struct unw_place p)
{
	bool same = s->cfa == UNW_CFA_REG && ((p.how == UNW_AT_SP && s->cfa_reg == UNW_REG_SP) ||
					      (p.how == UNW_AT_FP && s->cfa_reg == UNW_REG_FP));

	if (same && fits(p.off, 1 << 30) && fits(s->cfa_off, 1 << 30))
		return (struct unw_place){ UNW_AT_CFA, p.off - s->cfa_off };
	return p;
}

static enum unw_saved saved(struct unw_place p, int *ret_n)
{
	*ret_n = 0;
	if (p.how == UNW_SAME)
		return UNW_SAVED_NOT;
	if ((p.how != UNW_AT_CFA && p.how != UNW_AT_FP) || p.off % 8 || !fits(p.off / 8, 128))
		return UNW_SAVED_LOST;
	*ret_n = (int)(p.off / 8);
	return p.how == UNW_AT_CFA ? UNW_SAVED_CFA : UNW_SAVED_FP;
}

/* The slot for a short rule, -1: there is none. */
static int slot(enum unw_saved how, int n)
{
	if (how == UNW_SAVED_NOT)
		return 0;
	return how == UNW_SAVED_CFA && n < 0 && n >= -15 ? -n : -1;
}

static bool has_return_address(const struct unw_state *s)
{
	struct unw_place ra = s->regs[UNW_OF_RA];

	if (ra.how == UNW_IN_REG)
		return s->cfa == UNW_CFA_REG && ra.off >= 0 && ra.off < UNW_NR_REGS;
	return ra.how == UNW_AT_CFA && ra.off % 8 == 0 && ra.off < 0 && ra.off >= -15 * 8;
}

/* Whether a rule can express the state at all. */
static bool has_rule(const struct unw_state *s)
{
	if (s->cfa == UNW_CFA_UNKNOWN || s->regs[UNW_OF_SP].how != UNW_SAME)
		return false;
	if (s->cfa_reg >= UNW_NR_REGS || !fits(s->cfa_off, 1 << 23) || !fits(s->cfa_add, 128))
		return false;
	return has_return_address(s);
}

int unw_rules__encode(struct unw_rules *r, const struct unw_state *s, uint32_t *ret_rule)
{
	enum unw_saved fp_how, bx_how;
	int fp_n, bx_n, ra_slot;
	bool ra_in_reg;

	if (s->signal && s->cfa == UNW_CFA_DEREF && s->cfa_reg == UNW_REG_SP &&
	    s->cfa_off == SIGNAL_SP && !s->cfa_add) {
		*ret_rule = UNW_ESCAPE | UNW_SIGNAL;
		return 0;
	}
	if (s->regs[UNW_OF_RA].how == UNW_UNDEFINED) {
		*ret_rule = UNW_ESCAPE | UNW_END;
		return 0;
	}
	if (!has_rule(s)) {
		*ret_rule = UNW_ESCAPE | UNW_NONE;
		return 0;
	}
	ra_in_reg = s->regs[UNW_OF_RA].how == UNW_IN_REG;
	ra_slot = ra_in_reg ? 0 : (int)(-s->regs[UNW_OF_RA].off / 8);
	fp_how = saved(from_cfa(s, s->regs[UNW_OF_FP]), &fp_n);
	bx_how = saved(from_cfa(s, s->regs[UNW_OF_BX]), &bx_n);
	if (s->cfa == UNW_CFA_REG && (s->cfa_reg == UNW_REG_SP || s->cfa_reg == UNW_REG_FP) &&
	    s->cfa_off % 8 == 0 && s->cfa_off >= 0 && s->cfa_off / 8 < 1024 && ra_slot == 1 &&
	    slot(fp_how, fp_n) >= 0 && slot(bx_how, bx_n) >= 0) {
		*ret_rule = UNW_SIMPLE(s->cfa_reg == UNW_REG_FP, s->cfa_off / 8,
				       (unsigned int)slot(fp_how, fp_n),
				       (unsigned int)slot(bx_how, bx_n));
		return 0;
	}
	return intern(r,
		      UNW_RULE(ra_in_reg ? UNW_CFA_RA_REG : s->cfa, s->cfa_reg, fp_how, fp_n,
			       bx_how, bx_n, ra_slot == 1 ? 0 : ra_slot,
			       ra_in_reg ? s->regs[UNW_OF_RA].off : s->cfa_add, s->cfa_off),
		      ret_rule);
}
