// SPDX-License-Identifier: GPL-2.0-only
/* Decodes one instruction by tables of opcodes. */
#include "arch_insn.h"

#include "cursor.h"

#define MAX_PREFIXES 10
#define MAX_LEN 15
#define BIT(reg) (1u << (reg))

/* The parts of an opcode, and which of its operands is a general register that it writes. */
enum {
	HAS_MODRM = 1 << 0,
	HAS_IMM8 = 1 << 1,
	HAS_IMM16 = 1 << 2,
	HAS_IMM = 1 << 3, /* 32 bits, or 16 by prefix */
	WRITES_REG = 1 << 4,
	WRITES_RM = 1 << 5,
	IS_BYTE = 1 << 6, /* 8-bit operands */
	BAD = 1 << 7,
	ALONE = 1 << 8, /* no operands */

	REG = HAS_MODRM | WRITES_REG,
	RM = HAS_MODRM | WRITES_RM,
};

enum { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A };

struct decoder {
	struct cursor c;
	const uint8_t *start;
	bool narrow; /* 16-bit operands */
	bool is_vex;
	uint8_t rex;
	uint8_t map, op;
	uint8_t mod, reg, rm; /* reg and rm with their bits of the REX prefix */
	uint8_t base; /* base register of memory without an index, or INSN_NO_REG */
	bool of_ip; /* memory relative to the instruction pointer */
	int64_t disp, imm;
};

/* ---- opcode maps ----------------------------------------------------------------------------- */

static unsigned int arithmetic(uint8_t op)
{
	bool is_cmp = op >> 3 == 7;
	static const unsigned int forms[] = { RM | IS_BYTE, RM,	     REG | IS_BYTE, REG,
					      HAS_IMM8,	    HAS_IMM, BAD,	    BAD };
	unsigned int form = forms[op & 7];

	return is_cmp ? form & ~(WRITES_RM | WRITES_REG) : form;
}

/* clang-format off */

/* 0xa0 to 0xa3 take a 64-bit address and are unused; 0xb8 to 0xbf take 64 bits by prefix. */
static const uint16_t map_one[256] = {
	[0x60 ... 0x62] = BAD, [0x63] = REG, [0x68] = HAS_IMM, [0x69] = REG | HAS_IMM,
	[0x6a] = HAS_IMM8, [0x6b] = REG | HAS_IMM8,
	[0x70 ... 0x7f] = HAS_IMM8,
	[0x80] = RM | IS_BYTE | HAS_IMM8, [0x81] = RM | HAS_IMM, [0x82] = BAD,
	[0x83] = RM | HAS_IMM8, [0x84 ... 0x85] = HAS_MODRM, [0x86] = REG | WRITES_RM | IS_BYTE,
	[0x87] = REG | WRITES_RM, [0x88] = RM | IS_BYTE, [0x89] = RM, [0x8a] = REG | IS_BYTE,
	[0x8b] = REG, [0x8c] = RM, [0x8d] = REG, [0x8e] = HAS_MODRM, [0x8f] = RM,
	[0x9a] = BAD,
	[0xa0 ... 0xa3] = BAD, [0xa8] = HAS_IMM8, [0xa9] = HAS_IMM,
	[0xb0 ... 0xb7] = HAS_IMM8, [0xb8 ... 0xbf] = HAS_IMM,
	[0xc0] = RM | IS_BYTE | HAS_IMM8, [0xc1] = RM | HAS_IMM8, [0xc2] = HAS_IMM16,
	[0xc4 ... 0xc5] = BAD, [0xc6] = RM | IS_BYTE | HAS_IMM8, [0xc7] = RM | HAS_IMM,
	[0xc8] = HAS_IMM16 | HAS_IMM8, [0xca] = HAS_IMM16, [0xcd] = HAS_IMM8, [0xce] = BAD,
	[0xd0] = RM | IS_BYTE, [0xd1] = RM, [0xd2] = RM | IS_BYTE, [0xd3] = RM,
	[0xd4 ... 0xd6] = BAD, [0xd8 ... 0xdf] = HAS_MODRM,
	[0xe0 ... 0xe7] = HAS_IMM8, [0xe8 ... 0xe9] = HAS_IMM, [0xea] = BAD, [0xeb] = HAS_IMM8,
	[0xf6] = RM | IS_BYTE, [0xf7] = RM, [0xfe] = RM | IS_BYTE, [0xff] = RM,
};

/* Opcodes not listed here have a ModRM byte.  0x05 is syscall, 0x0b ud2. */
static const uint16_t map_0f[256] = {
	[0x04] = BAD, [0x05] = ALONE, [0x06 ... 0x0a] = BAD, [0x0b] = ALONE, [0x0c] = BAD,
	[0x0e ... 0x0f] = BAD,
	[0x24 ... 0x27] = BAD, [0x2c ... 0x2d] = REG,
	[0x30 ... 0x33] = ALONE, [0x34 ... 0x36] = BAD, [0x37] = ALONE, [0x38 ... 0x3f] = BAD,
	[0x40 ... 0x50] = REG,
	[0x70 ... 0x73] = HAS_MODRM | HAS_IMM8, [0x77] = ALONE, [0x7e] = RM,
	[0x80 ... 0x8f] = HAS_IMM,
	[0x90 ... 0x9f] = RM | IS_BYTE,
	[0xa0 ... 0xa2] = ALONE, [0xa4] = RM | HAS_IMM8, [0xa5] = RM, [0xa8 ... 0xa9] = ALONE,
	[0xaa] = BAD, [0xab] = RM, [0xac] = RM | HAS_IMM8, [0xad] = RM, [0xaf] = REG,
	[0xb0] = RM | IS_BYTE, [0xb1] = RM, [0xb2] = REG, [0xb3] = RM, [0xb4 ... 0xb8] = REG,
	[0xba] = RM | HAS_IMM8, [0xbb] = RM, [0xbc ... 0xbf] = REG,
	[0xc0] = RM | WRITES_REG | IS_BYTE, [0xc1] = RM | WRITES_REG,
	[0xc2] = HAS_MODRM | HAS_IMM8, [0xc4] = HAS_MODRM | HAS_IMM8, [0xc5] = REG | HAS_IMM8,
	[0xc6] = HAS_MODRM | HAS_IMM8, [0xc7] = RM, [0xc8 ... 0xcf] = ALONE,
	[0xd7] = REG,
};
/* clang-format on */

static unsigned int attributes(const struct decoder *d)
{
	switch (d->map) {
	case MAP_ONE:
		return d->op < 0x40 ? arithmetic(d->op) : map_one[d->op];
	case MAP_0F:
		return map_0f[d->op] ? map_0f[d->op] : HAS_MODRM;
	case MAP_0F38:
		return d->op >= 0xf0 ? REG | WRITES_RM : HAS_MODRM;
	default:
		return HAS_IMM8 | (d->op >= 0x14 && d->op <= 0x17 ? RM : HAS_MODRM);
	}
}

/* ---- the parts of an instruction ------------------------------------------------------------- */

static bool read_vex(struct decoder *d, uint8_t first)
{
	uint8_t p;

	d->is_vex = true;
	d->map = MAP_0F;
	if (first != 0xc5) {
		p = cursor__u8(&d->c);
		d->map = p & (first == 0x62 ? 7 : 31);
		if (first == 0x62)
			cursor__u8(&d->c);
	}
	cursor__u8(&d->c);
	d->op = cursor__u8(&d->c);
	return d->map >= MAP_0F && d->map <= MAP_0F3A;
}

static bool read_opcode(struct decoder *d)
{
	uint8_t b = cursor__u8(&d->c);

	for (int i = 0; i < MAX_PREFIXES; i++) {
		if (b == 0x66)
			d->narrow = true;
		else if (b != 0xf2 && b != 0xf3 && b != 0xf0 && b != 0x67 && (b & 0xe7) != 0x26 &&
			 b != 0x64 && b != 0x65)
			break;
		b = cursor__u8(&d->c);
	}
	if ((b & 0xf0) == 0x40) {
		d->rex = b;
		b = cursor__u8(&d->c);
	}
	if (b == 0xc4 || b == 0xc5 || b == 0x62)
		return read_vex(d, b);
	if (b == 0x0f) {
		b = cursor__u8(&d->c);
		d->map = b == 0x38 ? MAP_0F38 : b == 0x3a ? MAP_0F3A : MAP_0F;
		if (d->map != MAP_0F)
			b = cursor__u8(&d->c);
	}
	d->op = b;
	return true;
}

static void read_modrm(struct decoder *d)
{
	uint8_t b = cursor__u8(&d->c), sib;

	d->mod = b >> 6;
	d->reg = (b >> 3 & 7) | (d->rex & 4) << 1;
	d->rm = (b & 7) | (d->rex & 1) << 3;
	d->base = INSN_NO_REG;
	if (d->mod == 3)
		return;
	if ((b & 7) == 4) {
		sib = cursor__u8(&d->c);
		if ((sib & 0x38) == 0x20 && !(d->rex & 2)) /* no index */
			d->base = (sib & 7) | (d->rex & 1) << 3;
		if ((sib & 7) == 5 && !d->mod) {
			d->base = INSN_NO_REG;
			d->disp = cursor__int(&d->c, 4);
		}
	} else if ((b & 7) == 5 && !d->mod) {
		d->of_ip = true;
		d->disp = cursor__int(&d->c, 4);
	} else {
		d->base = d->rm;
	}
	if (d->mod)
		d->disp = cursor__int(&d->c, d->mod == 1 ? 1 : 4);
}

/* Groups whose members differ: /digit in place of a register. */
static unsigned int group(const struct decoder *d, unsigned int a)
{
	unsigned int digit = d->reg & 7;

	if (d->map == MAP_0F)
		return d->op == 0xba && digit == 4 ? a & ~WRITES_RM : a; /* bt */
	if (d->map != MAP_ONE)
		return a;
	switch (d->op) {
	case 0x8f: /* pop, or else AMD's XOP */
		return digit ? BAD : a;
	case 0x80 ... 0x83:
		return digit == 7 ? a & ~WRITES_RM : a; /* cmp */
	case 0xf6 ... 0xf7:
		if (digit < 2) /* test */
			a |= d->op == 0xf6 ? HAS_IMM8 : HAS_IMM;
		return digit == 2 || digit == 3 ? a : a & ~WRITES_RM;
	case 0xfe ... 0xff:
		return digit < 2 ? a : a & ~WRITES_RM;
	}
	return a;
}

static bool is_branch(const struct decoder *d)
{
	return d->map == MAP_ONE ? d->op == 0xe8 || d->op == 0xe9 : (d->op & 0xf0) == 0x80;
}

static void read_immediates(struct decoder *d, unsigned int a)
{
	if (a & HAS_IMM16)
		d->imm = (int64_t)cursor__uint(&d->c, 2);
	if (a & HAS_IMM8)
		d->imm = cursor__int(&d->c, 1);
	if (!(a & HAS_IMM))
		return;
	if (d->map == MAP_ONE && (d->op & 0xf8) == 0xb8 && d->rex & 8)
		d->imm = cursor__int(&d->c, 8);
	else if (d->narrow && !(d->rex & 8) && !is_branch(d))
		d->imm = cursor__int(&d->c, 2);
	else
		d->imm = cursor__int(&d->c, 4);
}

/* A byte register's number means another register without REX: ah, ch, dh, bh. */
static uint8_t written(const struct decoder *d, unsigned int a, uint8_t reg)
{
	if (a & IS_BYTE && !d->rex && reg >= 4)
		reg -= 4;
	return reg < 8 ? (uint8_t)BIT(reg) : 0;
}

static uint8_t find_writes(const struct decoder *d, unsigned int a)
{
	uint8_t writes = 0;

	if (d->is_vex) /* the register encoded in the prefix does not matter */
		return d->map == MAP_0F38 && d->op >= 0xf0 ? BIT(INSN_REG_BP) | BIT(INSN_REG_BX) :
							     0;
	if (a & WRITES_REG)
		writes |= written(d, a, d->reg);
	if (a & WRITES_RM && d->mod == 3)
		writes |= written(d, a, d->rm);
	if (d->map == MAP_ONE && ((d->op >= 0x91 && d->op <= 0x97) || (d->op & 0xf0) == 0xb0))
		writes |= written(d, d->op < 0xb8 && d->op >= 0xb0 ? IS_BYTE : 0,
				  (d->op & 7) | (d->rex & 1) << 3);
	if (d->map == MAP_0F && (d->op & 0xf8) == 0xc8)
		writes |= written(d, 0, (d->op & 7) | (d->rex & 1) << 3);
	if (d->map == MAP_0F && d->op == 0x05) /* syscall */
		writes |= BIT(1);
	if (d->map == MAP_0F && d->op == 0xa2) /* cpuid */
		writes |= BIT(INSN_REG_BX);
	if (d->map == MAP_ONE && (d->op & 0xf0) == 0x50) /* 16-bit */
		writes |= BIT(INSN_REG_SP);
	if (d->map == MAP_ONE && d->op == 0xc8) /* enter */
		writes |= BIT(INSN_REG_SP) | BIT(INSN_REG_BP);
	return writes;
}

/* ---- classification -------------------------------------------------------------------------- */

static void classify_0f(const struct decoder *d, struct arch_insn *insn)
{
	if ((d->op & 0xf0) == 0x80) {
		insn->kind = INSN_JUMP_IF;
		insn->value = insn->len + d->imm;
	} else if (d->op == 0x0b) {
		insn->kind = INSN_STOP;
	} else if (d->op == 0xa0 || d->op == 0xa8) {
		insn->kind = INSN_PUSH;
	} else if (d->op == 0xa1 || d->op == 0xa9) {
		insn->kind = INSN_POP;
	}
}

/* mov and lea of 64 bits. */
static bool classify_move(const struct decoder *d, struct arch_insn *insn)
{
	uint8_t from = d->op == 0x89 ? d->reg : d->rm, to = d->op == 0x89 ? d->rm : d->reg;
	bool of_frame = d->base == INSN_REG_SP || d->base == INSN_REG_BP;

	if (!(d->rex & 8) || (d->op != 0x89 && d->op != 0x8b && d->op != 0x8d))
		return false;
	insn->base = d->base;
	insn->reg = d->reg;
	insn->value = d->disp;
	if (d->op == 0x8d && d->of_ip) {
		insn->kind = INSN_LEA_CODE;
		insn->value = insn->len + d->disp;
		return false; /* the registers that it writes matter, too */
	}
	if (d->op == 0x8d && of_frame && d->reg == INSN_REG_SP)
		insn->kind = INSN_LEA_SP;
	else if (d->op != 0x8d && d->mod == 3 && from == INSN_REG_SP && to == INSN_REG_BP)
		insn->kind = INSN_FP_FROM_SP;
	else if (d->op != 0x8d && d->mod == 3 && from == INSN_REG_BP && to == INSN_REG_SP)
		insn->kind = INSN_SP_FROM_FP;
	else if (d->op == 0x89 && d->mod != 3 && of_frame)
		insn->kind = INSN_STORE;
	else if (d->op == 0x8b && of_frame && d->reg != INSN_REG_SP)
		insn->kind = INSN_LOAD;
	return insn->kind != INSN_OTHER;
}

static bool classify_ff(const struct decoder *d, struct arch_insn *insn)
{
	switch (d->reg & 7) {
	case 2 ... 3:
		insn->kind = INSN_CALL_AWAY;
		break;
	case 4 ... 5:
		insn->kind = INSN_JUMP_AWAY;
		break;
	case 6:
		insn->kind = INSN_PUSH;
		break;
	}
	return insn->kind != INSN_OTHER;
}

/* Returns false if only the registers that it writes matter. */
static bool classify_one(const struct decoder *d, struct arch_insn *insn)
{
	uint8_t low = (d->op & 7) | (d->rex & 1) << 3;

	insn->value = insn->len + d->imm;
	switch (d->op) {
	case 0x50 ... 0x57:
	case 0x58 ... 0x5f:
		if (d->narrow)
			return false;
		insn->kind = d->op < 0x58 ? INSN_PUSH : INSN_POP;
		insn->reg = low;
		return true;
	case 0x68:
	case 0x6a:
	case 0x9c:
		insn->kind = INSN_PUSH;
		return true;
	case 0x8f:
	case 0x9d:
		insn->kind = INSN_POP;
		insn->reg = d->op == 0x8f && d->mod == 3 ? d->rm : INSN_NO_REG;
		return true;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		insn->kind = INSN_JUMP_IF;
		return true;
	case 0xe9:
	case 0xeb:
		insn->kind = INSN_JUMP;
		return true;
	case 0xe8:
		insn->kind = INSN_CALL;
		return true;
	case 0xff:
		return classify_ff(d, insn);
	case 0xc2 ... 0xc3:
	case 0xca ... 0xcb:
	case 0xcf:
		insn->kind = INSN_RETURN;
		return true;
	case 0xc9:
		insn->kind = INSN_LEAVE;
		return true;
	case 0xcc:
		insn->kind = INSN_STOP;
		return true;
	case 0xf4:
		insn->kind = INSN_CALL_AWAY;
		return true;
	case 0x81:
	case 0x83:
		if (d->mod != 3 || d->rm != INSN_REG_SP || !(d->rex & 8) || (d->reg & 7) % 5)
			return false;
		insn->kind = INSN_ADD_SP;
		insn->value = (d->reg & 7) == 5 ? -d->imm : d->imm;
		return true;
	case 0x31:
	case 0x33:
		if (d->mod == 3 && d->reg == INSN_REG_BP && d->rm == INSN_REG_BP)
			insn->kind = INSN_CLEAR_FP;
		return insn->kind == INSN_CLEAR_FP;
	}
	return classify_move(d, insn);
}

bool arch_insn__decode(const uint8_t *p, size_t len, struct arch_insn *ret_insn)
{
	struct decoder d = { .c = cursor__new(p, len < MAX_LEN ? len : MAX_LEN) };
	struct arch_insn insn = { .reg = INSN_NO_REG, .base = INSN_NO_REG };
	unsigned int a;

	if (!read_opcode(&d) || d.c.bad)
		return false;
	a = attributes(&d);
	if (a & BAD)
		return false;
	if (a & HAS_MODRM) {
		read_modrm(&d);
		a = group(&d, a);
		if (a & BAD)
			return false;
	}
	read_immediates(&d, a);
	if (d.c.bad)
		return false;
	insn.len = (uint8_t)(d.c.p - p);
	if (d.map == MAP_ONE && classify_one(&d, &insn)) {
		*ret_insn = insn;
		return true;
	}
	if (d.map == MAP_0F && !d.is_vex)
		classify_0f(&d, &insn);
	insn.writes = find_writes(&d, a);
	*ret_insn = insn;
	return true;
}
