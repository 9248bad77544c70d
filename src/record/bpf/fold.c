// SPDX-License-Identifier: GPL-2.0-only
/* Finds loads from read-only maps, within stretches that no jump leads into, and replaces them. */
#include "fold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

#define NR_REGS 11
#define CALLER_SAVED 6 /* r0 to r5 */

/* What is known of a register: it points into a map. */
struct pointer {
	const struct fold_map *map; /* NULL: nothing is known */
	int64_t offset;
	size_t at; /* the instruction that set it */
	bool unused; /* nothing has read it since, nor can another path */
};

struct fold {
	struct bpf_insn *insns;
	size_t nr;
	bool *targets; /* by instruction: a jump or a call leads there */
	struct pointer reg[NR_REGS];
};

static bool is_wide(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_jump(const struct bpf_insn *i)
{
	return BPF_CLASS(i->code) == BPF_JMP || BPF_CLASS(i->code) == BPF_JMP32;
}

static bool is_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL);
}

/* How far it jumps, calls or points to code, from the next instruction on; false: it does not. */
static bool distance_of(const struct bpf_insn *i, int64_t *ret_distance)
{
	*ret_distance = i->imm;
	if (is_wide(i))
		return i->src_reg == BPF_PSEUDO_FUNC;
	if (is_call(i))
		return i->src_reg == BPF_PSEUDO_CALL;
	if (i->code == (BPF_JMP32 | BPF_JA))
		return true;
	*ret_distance = i->off;
	return is_jump(i) && BPF_OP(i->code) != BPF_EXIT;
}

static void mark_targets(struct fold *f)
{
	int64_t distance;
	size_t i;

	for (i = 0; i < f->nr; i += 1 + is_wide(&f->insns[i]))
		if (distance_of(&f->insns[i], &distance) && i + 1 + distance < f->nr)
			f->targets[i + 1 + distance] = true;
}

static void forget(struct fold *f, unsigned int from, unsigned int to)
{
	for (; from < to && from < NR_REGS; from++)
		f->reg[from].map = NULL;
}

static void use(struct fold *f, unsigned int reg)
{
	if (reg < NR_REGS)
		f->reg[reg].unused = false;
}

static void use_all(struct fold *f)
{
	unsigned int i;

	for (i = 0; i < NR_REGS; i++)
		use(f, i);
}

static void set_pointer(struct fold *f, size_t at, const struct fold_map *maps,
			unsigned int nr_maps)
{
	const struct bpf_insn *i = &f->insns[at];
	unsigned int m;

	if (i->dst_reg >= NR_REGS)
		return;
	f->reg[i->dst_reg].map = NULL;
	for (m = 0; i->src_reg == BPF_PSEUDO_MAP_VALUE && m < nr_maps; m++)
		if (maps[m].fd == i->imm)
			f->reg[i->dst_reg] = (struct pointer){ &maps[m], i[1].imm, at, true };
}

/* The value that is loaded; false: it is not one that an instruction can set. */
static bool value_of(const struct bpf_insn *i, const struct pointer *p, int32_t *ret_value,
		     bool *ret_sign)
{
	static const uint8_t sizes[] = {
		[BPF_W >> 3] = 4, [BPF_H >> 3] = 2, [BPF_B >> 3] = 1, [BPF_DW >> 3] = 8
	};
	size_t size = sizes[BPF_SIZE(i->code) >> 3];
	int64_t at = p->offset + i->off;
	uint64_t v = 0;

	if (at < 0 || (uint64_t)at + size > p->map->size)
		return false;
	memcpy(&v, (const uint8_t *)p->map->value + at, size);
	*ret_value = (int32_t)v;
	*ret_sign = v > UINT32_MAX;
	return !*ret_sign || (int64_t)v == *ret_value;
}

static bool load(struct fold *f, struct bpf_insn *i)
{
	struct pointer *p = &f->reg[i->src_reg];
	struct bpf_insn *wide = f->insns + p->at;
	int32_t value;
	bool sign;

	if (!p->map || !value_of(i, p, &value, &sign))
		return false;
	if (p->unused && i->src_reg == i->dst_reg)
		wide[0] = wide[1] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
	*i = (struct bpf_insn){ .code = (sign ? BPF_ALU64 : BPF_ALU) | BPF_MOV | BPF_K,
				.dst_reg = i->dst_reg,
				.imm = value };
	return true;
}

/* An instruction that is no jump and sets no pointer into a map. */
static bool plain(struct fold *f, struct bpf_insn *i)
{
	bool folded = false;

	if (i->dst_reg >= NR_REGS || i->src_reg >= NR_REGS) {
		forget(f, 0, NR_REGS);
		return false;
	}
	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		folded = BPF_MODE(i->code) == BPF_MEM && load(f, i);
		if (!folded)
			use(f, i->src_reg);
		forget(f, i->dst_reg, i->dst_reg + 1);
		break;
	case BPF_ST:
	case BPF_STX:
		use(f, i->src_reg);
		use(f, i->dst_reg);
		if (BPF_MODE(i->code) == BPF_ATOMIC) {
			forget(f, i->src_reg, i->src_reg + 1);
			forget(f, 0, 1);
		}
		break;
	default: /* arithmetic; or an old load, which sets r0 */
		use(f, i->src_reg);
		forget(f, i->dst_reg, i->dst_reg + 1);
		forget(f, 0, BPF_CLASS(i->code) == BPF_LD);
	}
	return folded;
}

int fold__loads(struct bpf_insn *insns, size_t nr, const struct fold_map *maps,
		unsigned int nr_maps)
{
	_cleanup_free_ bool *targets = calloc(nr + 1, sizeof(*targets));
	struct fold f = { .insns = insns, .nr = nr, .targets = targets };
	int folded = 0;
	size_t i;

	if (!targets)
		return -ENOMEM;
	mark_targets(&f);
	for (i = 0; i < nr; i++) {
		if (targets[i])
			forget(&f, 0, NR_REGS);
		if (is_wide(&insns[i])) {
			set_pointer(&f, i, maps, nr_maps);
			i++;
		} else if (is_call(&insns[i])) {
			forget(&f, 0, CALLER_SAVED);
		} else if (is_jump(&insns[i])) {
			use_all(&f); /* the other path may read them */
			if (BPF_OP(insns[i].code) == BPF_JA || BPF_OP(insns[i].code) == BPF_EXIT)
				forget(&f, 0, NR_REGS);
		} else {
			folded += plain(&f, &insns[i]);
		}
	}
	return folded;
}
