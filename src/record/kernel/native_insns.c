// SPDX-License-Identifier: GPL-2.0-only
/* Writes BPF instructions: operations, jumps, and reads of the kernel's memory. */
#include "native_priv.h"

#include "native_rows.h"

static void emit(struct native_maker *m, struct bpf_insn insn)
{
	if (m->code->nr == NATIVE_HOLE)
		m->is_full = true;
	else
		m->code->insns[m->code->nr++] = insn;
}

static uint8_t width(uint32_t size)
{
	return size == 8 ? BPF_DW : size == 4 ? BPF_W : size == 2 ? BPF_H : BPF_B;
}

void native_load(struct native_maker *m, int to, int from, uint32_t off, uint32_t size)
{
	emit(m, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | width(size),
				   .dst_reg = to,
				   .src_reg = from,
				   .off = (int16_t)off });
}

void native_store(struct native_maker *m, int from, uint32_t off, uint32_t size)
{
	emit(m, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | width(size),
				   .dst_reg = NATIVE_RECORD,
				   .src_reg = from,
				   .off = (int16_t)off });
}

void native_op(struct native_maker *m, int op, int reg, int32_t value)
{
	emit(m, (struct bpf_insn){ .code = op | BPF_K, .dst_reg = reg, .imm = value });
}

void native_op_register(struct native_maker *m, int op, int to, int from)
{
	emit(m, (struct bpf_insn){ .code = op | BPF_X, .dst_reg = to, .src_reg = from });
}

void native_set64(struct native_maker *m, int reg, uint64_t value)
{
	emit(m, (struct bpf_insn){
			.code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = reg, .imm = (int32_t)value });
	emit(m, (struct bpf_insn){ .imm = (int32_t)(value >> 32) });
}

void native_call(struct native_maker *m, int helper)
{
	emit(m, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper });
}

void native_exit(struct native_maker *m)
{
	emit(m, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

unsigned int native_jump(struct native_maker *m, int op, int reg, int32_t value)
{
	emit(m, (struct bpf_insn){ .code = BPF_JMP | op, .dst_reg = reg, .imm = value });
	return m->code->nr - 1;
}

void native_land(struct native_maker *m, unsigned int from)
{
	m->code->insns[from].off = (int16_t)(m->code->nr - from - 1);
}

void native_fail_if(struct native_maker *m, int op, int reg, int32_t value)
{
	unsigned int at = native_jump(m, op, reg, value);

	if (!m->is_full)
		m->to_failure[m->nr_to_failure++] = at;
}

void native_load_arg(struct native_maker *m, int to, int arg)
{
	if (arg != NATIVE_CURRENT) {
		native_load(m, to, NATIVE_CTX, 8 * (uint32_t)arg, 8);
		return;
	}
	native_call(m, BPF_FUNC_get_current_task);
	native_op_register(m, NATIVE_SET, to, BPF_REG_0);
}

static void copy_by_helper(struct native_maker *m, uint32_t to, uint32_t size)
{
	native_op_register(m, NATIVE_SET, BPF_REG_3, BPF_REG_1);
	native_op_register(m, NATIVE_SET, BPF_REG_1, NATIVE_RECORD);
	native_op(m, NATIVE_ADD, BPF_REG_1, (int32_t)to);
	native_op(m, NATIVE_SET, BPF_REG_2, (int32_t)size);
	native_call(m, BPF_FUNC_probe_read_kernel);
}

/*
 * With casts, the address is taken for one of a struct whose first member is a number of 8 bytes:
 * the verifier allows no other reads of addresses that it does not know.
 */
void native_follow(struct native_maker *m)
{
	if (m->reader == NATIVE_BY_HELPER) {
		copy_by_helper(m, NATIVE_TEMPORARY, 8);
		native_load(m, BPF_REG_1, NATIVE_RECORD, NATIVE_TEMPORARY, 8);
		return;
	}
	native_op(m, NATIVE_SET, BPF_REG_2, (int32_t)m->any_word);
	emit(m, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				   .src_reg = BPF_PSEUDO_KFUNC_CALL,
				   .imm = (int32_t)m->cast });
	native_load(m, BPF_REG_1, BPF_REG_0, 0, 8);
}

void native_find(struct native_maker *m, int arg, const struct native_place *p)
{
	unsigned int i;

	native_load_arg(m, BPF_REG_1, arg);
	for (i = 0;; i++) {
		if (p->off[i])
			native_op(m, NATIVE_ADD, BPF_REG_1, (int32_t)p->off[i]);
		if (i + 1 == p->nr)
			return;
		native_follow(m);
	}
}

void native_copy(struct native_maker *m, uint32_t to, uint32_t size)
{
	if (m->reader == NATIVE_BY_HELPER) {
		copy_by_helper(m, to, size);
		return;
	}
	native_follow(m);
	native_store(m, BPF_REG_1, to, size);
}
