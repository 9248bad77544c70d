// SPDX-License-Identifier: GPL-2.0-only
/* An interpreter for the instructions that fill records. */
#include "native_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define NR_REGS 11
#define RECORD_BASE (1ull << 62) /* addresses of the record, so that no other can be mistaken */
#define CTX_BASE (1ull << 61)

struct state {
	uint64_t r[NR_REGS];
	bool is_set[NR_REGS];
	struct native_machine *m;
};

static uint64_t get(const struct state *s, int reg)
{
	assert_in_range(reg, 0, NR_REGS - 1);
	assert_true(s->is_set[reg]);
	return s->r[reg];
}

/* r6, r7 and r10 belong to the program around the hole; r8 and r9 must stay. */
static void set(struct state *s, int reg, uint64_t value)
{
	assert_in_range(reg, 0, 5);
	s->r[reg] = value;
	s->is_set[reg] = true;
}

/* What a program reads at an address that may be bad, as 0: pages below 4096 are not mapped. */
static bool is_readable(uint64_t address)
{
	return address >= 4096 && address < CTX_BASE;
}

static size_t place(uint64_t address, size_t size)
{
	assert_in_range(address, RECORD_BASE + 8, RECORD_BASE + NATIVE_ROOM);
	assert_true(size <= RECORD_BASE + NATIVE_ROOM - address);
	return (size_t)(address - RECORD_BASE);
}

static void write_record(struct state *s, uint64_t address, const void *from, size_t size)
{
	size_t at = place(address, size);

	memcpy(s->m->rec + at, from, size);
	memset(s->m->written + at, true, size);
}

static uint64_t load(const struct state *s, uint64_t address, size_t size)
{
	uint64_t value = 0;
	size_t at, i;

	if (address >= RECORD_BASE) {
		at = place(address, size);
		for (i = 0; i < size; i++)
			assert_true(s->m->written[at + i]);
		memcpy(&value, s->m->rec + at, size);
	} else if (address >= CTX_BASE) {
		at = (size_t)(address - CTX_BASE);
		assert_int_equal(size, 8);
		assert_int_equal(at % 8, 0);
		assert_true(at / 8 < s->m->nr_args);
		value = s->m->args[at / 8];
	} else if (is_readable(address)) {
		memcpy(&value, (void *)(uintptr_t)address, size);
	}
	return value;
}

/* As strncpy_from_kernel_nofault(), whose callers fill the rest with zeros only where it fails. */
static int64_t read_string(struct state *s, uint64_t to, size_t max, uint64_t from)
{
	const char *text = (const char *)(uintptr_t)from;
	char copy[NATIVE_ROOM] = "";
	size_t len;

	assert_in_range(max, 1, NATIVE_ROOM);
	place(to, max);
	if (from >= RECORD_BASE) /* the constant for NULL */
		text = (const char *)s->m->rec + place(from, 1);
	else if (!is_readable(from))
		return -14;
	len = strnlen(text, max - 1);
	memcpy(copy, text, len);
	write_record(s, to, copy, len + 1);
	return (int64_t)len + 1;
}

static void call(struct state *s, const struct bpf_insn *insn)
{
	static const uint8_t zeros[NATIVE_ROOM];
	uint64_t result = 0;
	int i;

	if (insn->src_reg == BPF_PSEUDO_KFUNC_CALL) {
		result = get(s, BPF_REG_1);
		get(s, BPF_REG_2);
	} else if (insn->imm == BPF_FUNC_get_current_task) {
		result = s->m->task;
	} else if (insn->imm == BPF_FUNC_probe_read_kernel) {
		uint64_t to = get(s, BPF_REG_1), size = get(s, BPF_REG_2), from = get(s, BPF_REG_3);

		place(to, size);
		write_record(s, to, is_readable(from) ? (void *)(uintptr_t)from : zeros, size);
	} else {
		assert_int_equal(insn->imm, BPF_FUNC_probe_read_kernel_str);
		result = (uint64_t)read_string(s, get(s, BPF_REG_1), get(s, BPF_REG_2),
					       get(s, BPF_REG_3));
	}
	for (i = 0; i <= 5; i++)
		s->is_set[i] = false;
	set(s, BPF_REG_0, result);
}

static void compute(struct state *s, const struct bpf_insn *insn)
{
	bool is_register = BPF_SRC(insn->code) == BPF_X;
	uint64_t b = is_register ? get(s, insn->src_reg) : (uint64_t)(int64_t)insn->imm;
	uint64_t a = BPF_OP(insn->code) == BPF_MOV ? 0 : get(s, insn->dst_reg);

	switch (BPF_OP(insn->code)) {
	case BPF_MOV:
		a = b;
		break;
	case BPF_ADD:
		a += b;
		break;
	case BPF_SUB:
		a -= b;
		break;
	case BPF_AND:
		a &= b;
		break;
	case BPF_OR:
		a |= b;
		break;
	case BPF_XOR:
		a ^= b;
		break;
	case BPF_LSH:
		a <<= b & 63;
		break;
	case BPF_RSH:
		a >>= b & 63;
		break;
	case BPF_ARSH:
		a = (uint64_t)((int64_t)a >> (b & 63));
		break;
	default:
		fail_msg("unknown operation %#x", insn->code);
	}
	set(s, insn->dst_reg, BPF_CLASS(insn->code) == BPF_ALU ? (uint32_t)a : a);
}

static bool jumps(const struct state *s, const struct bpf_insn *insn)
{
	uint64_t b = (uint64_t)(int64_t)insn->imm, a;

	if (BPF_OP(insn->code) == BPF_JA)
		return true;
	a = get(s, insn->dst_reg);
	switch (BPF_OP(insn->code)) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JSLE:
		return (int64_t)a <= (int64_t)b;
	case BPF_JSGE:
		return (int64_t)a >= (int64_t)b;
	}
	fail_msg("unknown jump %#x", insn->code);
	return false;
}

static size_t bytes(uint8_t code)
{
	static const size_t sizes[] = { 4, 2, 1, 8 };

	return sizes[BPF_SIZE(code) >> 3];
}

/* Executes one instruction; returns how many to go on. */
static unsigned int step(struct state *s, const struct bpf_insn *insn)
{
	uint64_t value;

	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		compute(s, insn);
		return 1;
	case BPF_LDX:
		set(s, insn->dst_reg,
		    load(s, get(s, insn->src_reg) + (uint64_t)insn->off, bytes(insn->code)));
		return 1;
	case BPF_STX:
		value = get(s, insn->src_reg);
		write_record(s, get(s, insn->dst_reg) + (uint64_t)insn->off, &value,
			     bytes(insn->code));
		return 1;
	case BPF_LD:
		assert_int_equal(insn->code, BPF_LD | BPF_IMM | BPF_DW);
		set(s, insn->dst_reg, (uint32_t)insn[0].imm | (uint64_t)insn[1].imm << 32);
		return 2;
	case BPF_JMP:
		if (BPF_OP(insn->code) == BPF_CALL)
			call(s, insn);
		else if (jumps(s, insn))
			return (unsigned int)insn->off + 1;
		return 1;
	}
	fail_msg("unknown instruction %#x", insn->code);
	return 0;
}

void native_machine__run(struct native_machine *m, const struct native_code *code)
{
	struct state s = { .m = m };
	unsigned int i = 0, next;

	s.r[BPF_REG_8] = RECORD_BASE;
	s.r[BPF_REG_9] = CTX_BASE;
	s.is_set[BPF_REG_0] = s.is_set[BPF_REG_8] = s.is_set[BPF_REG_9] = true;
	memset(m->written, 0, sizeof(m->written));
	while (i < code->nr) {
		next = i + step(&s, &code->insns[i]);
		assert_true(next > i && next <= code->nr);
		i = next;
	}
	m->size = get(&s, BPF_REG_0);
	assert_in_range(m->size, 0, NATIVE_ROOM);
}
