// SPDX-License-Identifier: GPL-2.0-only
/* Checks an event against its rows and makes the instructions that fill its record. */
#include "native_code.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_rows.h"
#include "native_types.h"
#include "strbuf.h"

#define COMMON 8 /* bytes of struct trace_entry */
#define MAX_STRING 128 /* of a string of unknown length, NUL included; longer ones are refused */
#define TEMPORARY (NATIVE_ROOM - 8) /* of the record's room: behind all that a record may have */

/* The registers that src/bpf/native_hole.bpf.h sets. */
#define RECORD BPF_REG_8
#define CTX BPF_REG_9

struct maker {
	const struct btf *btf;
	enum native_reader reader;
	uint32_t cast, any_word; /* BTF ids */
	struct native_arg args[NATIVE_MAX_ARGS];
	unsigned int nr_args;
	struct native_code *code;
	unsigned int to_failure[NATIVE_HOLE]; /* jumps to the end of the code, where r0 is 0 */
	unsigned int nr_to_failure;
	uint32_t fixed; /* bytes of the record's fixed part */
	uint32_t most; /* bytes that the record may have, strings included */
	uint32_t string_at; /* offset of the last string's field; 0: not yet any */
	bool is_full;
	char *why;
};

/* ---- instructions ---------------------------------------------------------------------------- */

static void emit(struct maker *m, struct bpf_insn insn)
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

static void load(struct maker *m, int to, int from, uint32_t off, uint32_t size)
{
	emit(m, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | width(size),
				   .dst_reg = to,
				   .src_reg = from,
				   .off = (int16_t)off });
}

/* Stores a register in the record.  The offset is one that check_bounds() has accepted. */
static void store(struct maker *m, int from, uint32_t off, uint32_t size)
{
	emit(m, (struct bpf_insn){ .code = BPF_STX | BPF_MEM | width(size),
				   .dst_reg = RECORD,
				   .src_reg = from,
				   .off = (int16_t)off });
}

/* An operation with a constant; op has BPF_ALU64 or BPF_ALU. */
static void with(struct maker *m, int op, int reg, int32_t value)
{
	emit(m, (struct bpf_insn){ .code = op | BPF_K, .dst_reg = reg, .imm = value });
}

static void with_register(struct maker *m, int op, int to, int from)
{
	emit(m, (struct bpf_insn){ .code = op | BPF_X, .dst_reg = to, .src_reg = from });
}

#define SET (BPF_ALU64 | BPF_MOV)
#define ADD (BPF_ALU64 | BPF_ADD)
#define AND (BPF_ALU64 | BPF_AND)
#define OR (BPF_ALU64 | BPF_OR)
#define XOR (BPF_ALU64 | BPF_XOR)
#define RIGHT (BPF_ALU64 | BPF_RSH)
#define LEFT (BPF_ALU64 | BPF_LSH)

static void call(struct maker *m, int helper)
{
	emit(m, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper });
}

/* A jump that land() gives its target. */
static unsigned int jump(struct maker *m, int op, int reg, int32_t value)
{
	emit(m, (struct bpf_insn){ .code = BPF_JMP | op, .dst_reg = reg, .imm = value });
	return m->code->nr - 1;
}

static void land(struct maker *m, unsigned int from)
{
	m->code->insns[from].off = (int16_t)(m->code->nr - from - 1);
}

static void fail_if(struct maker *m, int op, int reg, int32_t value)
{
	unsigned int at = jump(m, op, reg, value);

	if (!m->is_full)
		m->to_failure[m->nr_to_failure++] = at;
}

/* ---- reading the kernel's memory ------------------------------------------------------------- */

static void load_arg(struct maker *m, int to, int arg)
{
	if (arg != NATIVE_CURRENT) {
		load(m, to, CTX, 8 * (uint32_t)arg, 8);
		return;
	}
	call(m, BPF_FUNC_get_current_task);
	with_register(m, SET, to, BPF_REG_0);
}

/* r1 = up to 8 bytes at the address r1; what is behind the wanted ones is not used. */
static void load_by_cast(struct maker *m)
{
	with(m, SET, BPF_REG_2, (int32_t)m->any_word);
	emit(m, (struct bpf_insn){ .code = BPF_JMP | BPF_CALL,
				   .src_reg = BPF_PSEUDO_KFUNC_CALL,
				   .imm = (int32_t)m->cast });
	load(m, BPF_REG_1, BPF_REG_0, 0, 8);
}

/* Copies size bytes at the address r1 to the record. */
static void copy_by_helper(struct maker *m, uint32_t to, uint32_t size)
{
	with_register(m, SET, BPF_REG_3, BPF_REG_1);
	with_register(m, SET, BPF_REG_1, RECORD);
	with(m, ADD, BPF_REG_1, (int32_t)to);
	with(m, SET, BPF_REG_2, (int32_t)size);
	call(m, BPF_FUNC_probe_read_kernel);
}

/* r1 = the address of the last struct of a path, plus the offset there. */
static void find(struct maker *m, int arg, const struct native_place *p)
{
	unsigned int i;

	load_arg(m, BPF_REG_1, arg);
	for (i = 0;; i++) {
		if (p->off[i])
			with(m, ADD, BPF_REG_1, (int32_t)p->off[i]);
		if (i + 1 == p->nr)
			return;
		if (m->reader == NATIVE_BY_CAST) {
			load_by_cast(m);
		} else {
			copy_by_helper(m, TEMPORARY, 8);
			load(m, BPF_REG_1, RECORD, TEMPORARY, 8);
		}
	}
}

/* Stores size bytes of the member, at its offset from, in the record. */
static void copy_by_cast(struct maker *m, int arg, const struct native_place *p, uint32_t from,
			 uint32_t to, uint32_t size)
{
	struct native_place part = *p;

	part.off[part.nr - 1] += from;
	find(m, arg, &part);
	load_by_cast(m);
	store(m, BPF_REG_1, to, size);
}

/* ---- fields ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static int refuse(struct maker *m, const struct ev_field *f,
							const char *reason, ...)
{
	va_list args;
	int n = f ? snprintf(m->why, NATIVE_WHY, "%s: ", f->name) : 0;

	if (n < 0 || n >= NATIVE_WHY)
		n = 0;
	va_start(args, reason);
	vsnprintf(m->why + n, NATIVE_WHY - (size_t)n, reason, args);
	va_end(args);
	return -EOPNOTSUPP;
}

static bool is_int(const struct ev_field *f, uint32_t size)
{
	return f->kind == EV_FIELD_INT && f->size == size;
}

/*
 * As a C assignment does it.  A signed argument arrives zero-extended, so it must have the field's
 * size.
 */
static int fill_arg(struct maker *m, const struct ev_field *f, const struct native_field *row)
{
	const struct native_arg *arg = &m->args[row->arg];

	if (f->kind != EV_FIELD_INT || f->size < arg->size ||
	    (f->size > arg->size && arg->is_signed) || (!strcmp(f->type, "bool") && !arg->is_bool))
		return refuse(m, f, "%s cannot hold an argument of %u bytes%s", f->type, arg->size,
			      arg->is_signed ? ", which is signed" : "");
	load_arg(m, BPF_REG_1, row->arg);
	store(m, BPF_REG_1, f->offset, f->size);
	return 0;
}

static int find_place(struct maker *m, const struct ev_field *f, const struct native_field *row,
		      struct native_place *ret_place)
{
	uint32_t type = 0;
	int id;

	if (row->arg == NATIVE_CURRENT) {
		id = btf__find_by_name_kind(m->btf, "task_struct", BTF_KIND_STRUCT);
		type = id < 0 ? 0 : (uint32_t)id;
	} else {
		type = m->args[row->arg].pointee;
	}
	if (!type || native_types__member(m->btf, type, row->member, ret_place))
		return refuse(m, f, "the kernel has no %s", row->member);
	return 0;
}

static int fill_member(struct maker *m, const struct ev_field *f, const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if (p.kind != NATIVE_NUMBER || !is_int(f, p.size) || !strcmp(f->type, "bool"))
		return refuse(m, f, "%s of %u bytes cannot hold %s, which has %u", f->type, f->size,
			      row->member, p.size);
	if (m->reader == NATIVE_BY_CAST) {
		copy_by_cast(m, row->arg, &p, 0, f->offset, f->size);
		return 0;
	}
	find(m, row->arg, &p);
	copy_by_helper(m, f->offset, f->size);
	return 0;
}

/* The whole array of characters, as memcpy() does it: what is behind the NUL, too. */
static int fill_chars(struct maker *m, const struct ev_field *f, const struct native_field *row,
		      const struct native_place *p)
{
	uint32_t i, n;

	if (p->kind != NATIVE_CHARS || p->size != f->size || f->size % 8)
		return refuse(m, f, "%s is no copy of %s, which has %u bytes", f->type, row->member,
			      p->size);
	if (m->reader == NATIVE_BY_CAST) {
		for (i = 0; i < f->size; i += n) {
			n = 8;
			copy_by_cast(m, row->arg, p, i, f->offset + i, n);
		}
		return 0;
	}
	find(m, row->arg, p);
	copy_by_helper(m, f->offset, f->size);
	return 0;
}

static int fill_string(struct maker *m, const struct ev_field *f, const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if (f->kind == EV_FIELD_STRING)
		return fill_chars(m, f, row, &p);
	return refuse(m, f, "%s is not supported", f->type);
}

#define STATE_REPORT 0x7f /* include/linux/sched.h, TASK_REPORT */
#define STATE_IDLE 0x402 /* TASK_IDLE */
#define STATE_REPORT_IDLE 0x80 /* TASK_REPORT_IDLE */
#define STATE_PREEMPTED 0x100 /* TASK_REPORT_MAX */
#define STATE_VARIES 0x9000 /* TASK_RTLOCK_WAIT, TASK_FROZEN: reported by release */

/* r1 = the highest bit of r1, which has 8. */
static void highest_bit(struct maker *m)
{
	int shift;

	for (shift = 1; shift <= 4; shift *= 2) {
		with_register(m, SET, BPF_REG_2, BPF_REG_1);
		with(m, RIGHT, BPF_REG_2, shift);
		with_register(m, OR, BPF_REG_1, BPF_REG_2);
	}
	with_register(m, SET, BPF_REG_2, BPF_REG_1);
	with(m, RIGHT, BPF_REG_2, 1);
	with_register(m, XOR, BPF_REG_1, BPF_REG_2);
}

/* The result of __trace_sched_switch_state(); r1 is exit_state. */
static void report_state(struct maker *m, const struct ev_field *f)
{
	unsigned int preempted, not_idle, end;

	load_arg(m, BPF_REG_2, 3);
	load_arg(m, BPF_REG_3, 0);
	preempted = jump(m, BPF_JNE, BPF_REG_3, 0);
	with_register(m, OR, BPF_REG_1, BPF_REG_2);
	with(m, AND, BPF_REG_1, STATE_REPORT);
	with_register(m, SET, BPF_REG_3, BPF_REG_2);
	with(m, AND, BPF_REG_3, STATE_VARIES);
	fail_if(m, BPF_JNE, BPF_REG_3, 0);
	with(m, AND, BPF_REG_2, STATE_IDLE);
	not_idle = jump(m, BPF_JNE, BPF_REG_2, STATE_IDLE);
	with(m, SET, BPF_REG_1, STATE_REPORT_IDLE);
	land(m, not_idle);
	highest_bit(m);
	end = jump(m, BPF_JA, 0, 0);
	land(m, preempted);
	with(m, SET, BPF_REG_1, STATE_PREEMPTED);
	land(m, end);
	store(m, BPF_REG_1, f->offset, 8);
}

static int fill_state(struct maker *m, const struct ev_field *f, const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if (!is_int(f, 8) || p.kind != NATIVE_NUMBER || p.size != 4)
		return refuse(m, f, "%s is not the state of a task", f->type);
	find(m, row->arg, &p);
	if (m->reader == NATIVE_BY_CAST) {
		load_by_cast(m);
		with_register(m, BPF_ALU | BPF_MOV, BPF_REG_1, BPF_REG_1); /* its lower half */
	} else {
		copy_by_helper(m, f->offset, 4);
		load(m, BPF_REG_1, RECORD, f->offset, 4);
	}
	report_state(m, f);
	return 0;
}

static int (*const fill[])(struct maker *m, const struct ev_field *f,
			   const struct native_field *row) = {
	[FILL_ARG] = fill_arg,
	[FILL_MEMBER] = fill_member,
	[FILL_STRING] = fill_string,
	[FILL_STATE] = fill_state,
};

/* ---- events ---------------------------------------------------------------------------------- */

static int fill_field(struct maker *m, const struct ev_field *f)
{
	const struct native_field *row = native_event__field(m->code->event, f->name);
	int err;

	if (!row)
		return refuse(m, f, "the field is unknown");
	if (row->arg != NATIVE_CURRENT && (unsigned int)row->arg >= m->nr_args)
		return refuse(m, f, "the event has no argument %d", row->arg + 1);
	err = fill[row->op](m, f, row);
	if (!err && m->is_full)
		return refuse(m, f, "the instructions exceed %d", NATIVE_HOLE);
	return err;
}

/* Marks the bytes of all fields: each must lie in the record, at its natural offset, and alone. */
static int check_bounds(struct maker *m, const struct ev_format *fmt, bool taken[NATIVE_MAX_FIXED])
{
	unsigned int i;
	uint32_t at;

	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		bool is_array = f->kind == EV_FIELD_STRING || f->kind == EV_FIELD_ARRAY;
		uint32_t end = f->is_common ? COMMON : m->fixed;

		if (!f->size || f->offset > end || f->size > end - f->offset ||
		    (!is_array && f->offset % f->size))
			return refuse(m, f, "%s of %u bytes cannot be at offset %u", f->type,
				      f->size, f->offset);
		for (at = f->offset; at < f->offset + f->size; at++) {
			if (taken[at] || (at < COMMON && !f->is_common))
				return refuse(m, f, "%s overlaps another field", f->type);
			taken[at] = true;
		}
	}
	return 0;
}

/* Clears what no field has, as if the kernel had done so; r1 is lost. */
static void fill_gaps(struct maker *m, const bool taken[NATIVE_MAX_FIXED])
{
	uint32_t at, size;
	bool is_set = false;

	for (at = COMMON; at < m->fixed; at += size) {
		size = 1;
		if (taken[at])
			continue;
		if (at % 4 == 0 && at + 4 <= m->fixed && !taken[at + 1] && !taken[at + 2] &&
		    !taken[at + 3])
			size = 4;
		if (!is_set)
			with(m, SET, BPF_REG_1, 0);
		is_set = true;
		store(m, BPF_REG_1, at, size);
	}
}

/* r0 = the size of the record, or 0 where a field is unavailable. */
static int finish(struct maker *m)
{
	unsigned int i, end;

	with(m, SET, BPF_REG_0, (int32_t)m->fixed);
	if (m->nr_to_failure) {
		end = jump(m, BPF_JA, 0, 0);
		for (i = 0; i < m->nr_to_failure; i++)
			land(m, m->to_failure[i]);
		with(m, SET, BPF_REG_0, 0);
		land(m, end);
	}
	return m->is_full ? refuse(m, NULL, "the instructions exceed %d", NATIVE_HOLE) : 0;
}

static int make(struct maker *m, const struct ev_format *fmt)
{
	bool taken[NATIVE_MAX_FIXED] = { 0 };
	unsigned int i;
	int err;

	m->fixed = ev_format__fixed_size(fmt);
	if (m->fixed < COMMON || m->fixed > NATIVE_MAX_FIXED)
		return refuse(m, NULL, "its record of %u bytes is too large", m->fixed);
	err = check_bounds(m, fmt, taken);
	if (err)
		return err;
	fill_gaps(m, taken);
	for (i = 0; !err && i < ev_format__nr_fields(fmt); i++)
		if (!ev_format__field(fmt, i)->is_common)
			err = fill_field(m, ev_format__field(fmt, i));
	return err ?: finish(m);
}

/* The row of the event whose prototype is the kernel's. */
static int choose_row(struct maker *m, const struct native_event *rows, size_t nr)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	int n = native_types__args(m->btf, rows->event, m->args, &text);
	size_t i;

	if (n < 0)
		return refuse(m, NULL, "the kernel's types do not describe its arguments");
	if (strbuf__failed(&text))
		return -ENOMEM;
	m->nr_args = (unsigned int)n;
	for (i = 0; i < nr; i++) {
		if (strcmp(rows[i].args, text.s ?: ""))
			continue;
		m->code->event = &rows[i];
		return 0;
	}
	return refuse(m, NULL, "its arguments (%s) are unknown", text.s ?: "");
}

static int check_text(struct maker *m, const char *text)
{
	uint64_t hash = native_rows__text_hash(text);
	size_t i;

	for (i = 0; hash && i < NATIVE_MAX_TEXTS; i++)
		if (m->code->event->texts[i] == hash)
			return 0;
	return refuse(m, NULL, "its print fmt is unknown (%#llx)", (unsigned long long)hash);
}

enum native_reader native_code__reader(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0 &&
			       native_types__any_word(btf) ?
		       NATIVE_BY_CAST :
		       NATIVE_BY_HELPER;
}

int native_code__make(const char *system, const char *event, const struct ev_format *fmt,
		      const char *text, const struct btf *btf, enum native_reader reader,
		      struct native_code *ret_code, char ret_why[NATIVE_WHY])
{
	size_t nr;
	const struct native_event *rows = native_rows__find(system, event, &nr);
	struct native_code code = { 0 };
	struct maker m = { .btf = btf, .reader = reader, .code = &code, .why = ret_why };
	int err, cast;

	ret_why[0] = '\0';
	if (!rows)
		return -ENOENT;
	cast = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
	m.cast = cast < 0 ? 0 : (uint32_t)cast;
	m.any_word = native_types__any_word(btf);
	if (reader == NATIVE_BY_CAST && (!m.cast || !m.any_word))
		return refuse(&m, NULL, "the kernel has no bpf_rdonly_cast()");
	err = choose_row(&m, rows, nr);
	if (!err)
		err = check_text(&m, text);
	if (!err)
		err = make(&m, fmt);
	if (!err)
		*ret_code = code;
	return err;
}

/* ---- the hole -------------------------------------------------------------------------------- */

static bool is_nop(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_JA) && !i->off && !i->imm && !i->dst_reg && !i->src_reg;
}

int native_code__fill_hole(struct bpf_insn *insns, size_t nr, const struct native_code *code)
{
	size_t i, run = 0, holes = 0, at = 0;

	for (i = 0; i <= nr; i++) {
		if (i < nr && is_nop(&insns[i])) {
			run++;
			continue;
		}
		if (run > NATIVE_HOLE)
			return -EPROTO;
		if (run == NATIVE_HOLE) {
			at = i - run;
			holes++;
		}
		run = 0;
	}
	if (holes != 1)
		return -EPROTO;
	memcpy(insns + at, code->insns, code->nr * sizeof(*insns));
	return 0;
}
