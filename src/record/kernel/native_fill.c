// SPDX-License-Identifier: GPL-2.0-only
/* Makes the instructions that fill one field, or refuses it. */
#include "native_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <bpf/btf.h>

#include "constants.h"
#include "events/format.h"
#include "native_rows.h"

#define MAX_STRING 128 /* of a string of unknown length, NUL included */

int native_refuse(struct native_maker *m, const struct ev_field *f, const char *reason, ...)
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

static bool is_bool(const struct ev_field *f)
{
	return !strcmp(f->type, "bool") || !strcmp(f->type, "_Bool");
}

/* Whether a number fits as a C assignment stores it without changing it or extending its sign. */
static bool can_hold(const struct ev_field *f, uint32_t size, bool is_signed)
{
	return f->kind == EV_FIELD_INT && (f->size == size || (f->size > size && !is_signed));
}

static int fill_arg(struct native_maker *m, const struct ev_field *f,
		    const struct native_field *row)
{
	const struct native_arg *arg = &m->args[row->arg];

	if (!can_hold(f, arg->size, arg->is_signed) || (is_bool(f) && !arg->is_bool))
		return native_refuse(m, f, "%s of %u bytes cannot hold argument %d, %s of %u",
				     f->type, f->size, row->arg + 1,
				     arg->is_signed ? "a signed number" : "a number", arg->size);
	native_load_arg(m, BPF_REG_1, row->arg);
	native_store(m, BPF_REG_1, f->offset, f->size);
	return 0;
}

static int find_place(struct native_maker *m, const struct ev_field *f,
		      const struct native_field *row, struct native_place *ret_place)
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
		return native_refuse(m, f, "the kernel has no member %s", row->member);
	return 0;
}

/* By the helper, a number goes right into the field, whose other bytes are 0 (little endian). */
static int fill_member(struct native_maker *m, const struct ev_field *f,
		       const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if ((p.kind != NATIVE_NUMBER && p.kind != NATIVE_CHAR_POINTER) ||
	    !can_hold(f, p.size, p.is_signed) || is_bool(f))
		return native_refuse(m, f, "%s of %u bytes cannot hold member %s of %u", f->type,
				     f->size, row->member, p.size);
	if (p.size == f->size) {
		native_find(m, row->arg, &p);
		native_copy(m, f->offset, f->size);
		return 0;
	}
	native_op(m, NATIVE_SET, BPF_REG_1, 0);
	native_store(m, BPF_REG_1, f->offset, f->size);
	native_find(m, row->arg, &p);
	native_copy(m, f->offset, p.size);
	return 0;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The whole array of characters, as memcpy() does it: with what is behind the NUL. */
static int fill_chars(struct native_maker *m, const struct ev_field *f,
		      const struct native_field *row, const struct native_place *p)
{
	struct native_place part = *p;
	uint32_t i;

	if (p->kind != NATIVE_CHARS || p->size != f->size || f->size % 8)
		return native_refuse(m, f, "%s is no copy of member %s of %u bytes", f->type,
				     row->member, p->size);
	if (m->reader == NATIVE_BY_HELPER) {
		native_find(m, row->arg, p);
		native_copy(m, f->offset, f->size);
		return 0;
	}
	for (i = 0; i < f->size; i += 8) {
		native_find(m, row->arg, &part);
		native_copy(m, f->offset + i, 8);
		part.off[part.nr - 1] += 8;
	}
	return 0;
}

void native_end_of_record(struct native_maker *m, int to, int temporary)
{
	if (!m->string_at) {
		native_op(m, NATIVE_SET, to, (int32_t)m->fixed);
		return;
	}
	native_load(m, to, NATIVE_RECORD, m->string_at, 4);
	native_op_register(m, NATIVE_SET, temporary, to);
	native_op(m, NATIVE_RIGHT, temporary, 16);
	native_op(m, NATIVE_AND, to, 0xffff);
	native_op_register(m, NATIVE_ADD, to, temporary);
}

/* r1 = "(null)" where r1 is NULL, which is what the kernel records. */
static void replace_null(struct native_maker *m)
{
	unsigned int is_string = native_jump(m, BPF_JNE, BPF_REG_1, 0);
	uint64_t null = 0;

	memcpy(&null, "(null)", 6);
	native_set64(m, BPF_REG_2, null);
	native_store(m, BPF_REG_2, NATIVE_TEMPORARY, 8);
	native_op_register(m, NATIVE_SET, BPF_REG_1, NATIVE_RECORD);
	native_op(m, NATIVE_ADD, BPF_REG_1, NATIVE_TEMPORARY);
	native_land(m, is_string);
}

/* Appends the string at r1, at most max bytes, to the record: its field is len << 16 | offset. */
static void append_string(struct native_maker *m, const struct ev_field *f, uint32_t max)
{
	native_op_register(m, NATIVE_SET, BPF_REG_3, BPF_REG_1);
	native_end_of_record(m, BPF_REG_1, BPF_REG_2);
	/* the verifier does not know what stands in the record */
	if (m->string_at)
		native_fail_if(m, BPF_JGT, BPF_REG_1, (int32_t)(NATIVE_TEMPORARY - max));
	native_op_register(m, NATIVE_SET, BPF_REG_2, BPF_REG_1);
	native_op_register(m, NATIVE_SET, BPF_REG_1, NATIVE_RECORD);
	native_op_register(m, NATIVE_ADD, BPF_REG_1, BPF_REG_2);
	native_op(m, NATIVE_SET, BPF_REG_2, (int32_t)max);
	native_call(m, BPF_FUNC_probe_read_kernel_str);
	native_fail_if(m, BPF_JSLE, BPF_REG_0, 0);
	/* an array may be full; another string of so many bytes may be longer */
	if (max == MAX_STRING)
		native_fail_if(m, BPF_JSGE, BPF_REG_0, MAX_STRING);
	native_end_of_record(m, BPF_REG_1, BPF_REG_2);
	native_op(m, NATIVE_LEFT, BPF_REG_0, 16);
	native_op_register(m, NATIVE_OR, BPF_REG_1, BPF_REG_0);
	native_store(m, BPF_REG_1, f->offset, 4);
	m->string_at = f->offset;
}

static int fill_string(struct native_maker *m, const struct ev_field *f,
		       const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);
	uint32_t max;

	if (err)
		return err;
	if (f->kind == EV_FIELD_STRING)
		return fill_chars(m, f, row, &p);
	max = p.kind == NATIVE_CHARS ? p.size : MAX_STRING;
	if (f->kind != EV_FIELD_DATA_LOC || !f->is_char || f->size != 4 ||
	    (p.kind != NATIVE_CHARS && p.kind != NATIVE_CHAR_POINTER) || !max || max > MAX_STRING)
		return native_refuse(m, f, "%s cannot hold the string %s", f->type, row->member);
	m->most += max;
	if (m->most > NATIVE_TEMPORARY)
		return native_refuse(m, f, "the record's strings exceed %d bytes",
				     NATIVE_TEMPORARY);
	native_find(m, row->arg, &p);
	if (p.kind == NATIVE_CHAR_POINTER) {
		native_follow(m);
		replace_null(m);
	}
	append_string(m, f, max);
	return 0;
}

/* ---- fields of single events ----------------------------------------------------------------- */

#define STATE_REPORT 0x7f /* include/linux/sched.h, TASK_REPORT */
#define STATE_IDLE 0x402 /* TASK_IDLE */
#define STATE_REPORT_IDLE 0x80 /* TASK_REPORT_IDLE */
#define STATE_PREEMPTED 0x100 /* TASK_REPORT_MAX */
#define STATE_VARIES 0x9000 /* TASK_RTLOCK_WAIT, TASK_FROZEN: reported by release */

/* r1 = the highest bit of r1, which has 8. */
static void highest_bit(struct native_maker *m)
{
	int shift;

	for (shift = 1; shift <= 4; shift *= 2) {
		native_op_register(m, NATIVE_SET, BPF_REG_2, BPF_REG_1);
		native_op(m, NATIVE_RIGHT, BPF_REG_2, shift);
		native_op_register(m, NATIVE_OR, BPF_REG_1, BPF_REG_2);
	}
	native_op_register(m, NATIVE_SET, BPF_REG_2, BPF_REG_1);
	native_op(m, NATIVE_RIGHT, BPF_REG_2, 1);
	native_op_register(m, NATIVE_XOR, BPF_REG_1, BPF_REG_2);
}

/* The result of __trace_sched_switch_state(); r1 is exit_state. */
static void report_state(struct native_maker *m, const struct ev_field *f)
{
	unsigned int preempted, not_idle, end;

	native_load_arg(m, BPF_REG_2, 3);
	native_load_arg(m, BPF_REG_3, 0);
	preempted = native_jump(m, BPF_JNE, BPF_REG_3, 0);
	native_op_register(m, NATIVE_OR, BPF_REG_1, BPF_REG_2);
	native_op(m, NATIVE_AND, BPF_REG_1, STATE_REPORT);
	native_op_register(m, NATIVE_SET, BPF_REG_3, BPF_REG_2);
	native_op(m, NATIVE_AND, BPF_REG_3, STATE_VARIES);
	native_fail_if(m, BPF_JNE, BPF_REG_3, 0);
	native_op(m, NATIVE_AND, BPF_REG_2, STATE_IDLE);
	not_idle = native_jump(m, BPF_JNE, BPF_REG_2, STATE_IDLE);
	native_op(m, NATIVE_SET, BPF_REG_1, STATE_REPORT_IDLE);
	native_land(m, not_idle);
	highest_bit(m);
	end = native_jump(m, BPF_JA, 0, 0);
	native_land(m, preempted);
	native_op(m, NATIVE_SET, BPF_REG_1, STATE_PREEMPTED);
	native_land(m, end);
	native_store(m, BPF_REG_1, f->offset, 8);
}

static int fill_state(struct native_maker *m, const struct ev_field *f,
		      const struct native_field *row)
{
	struct native_place p;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if (f->kind != EV_FIELD_INT || f->size != 8 || p.kind != NATIVE_NUMBER || p.size != 4 ||
	    m->nr_args != 4)
		return native_refuse(m, f, "%s of %u bytes cannot hold a task's state", f->type,
				     f->size);
	native_find(m, row->arg, &p);
	native_follow(m);
	native_op_register(m, NATIVE_SET32, BPF_REG_1, BPF_REG_1);
	report_state(m, f);
	return 0;
}

/*
 * The number of a page: the index of its struct page in the array of all, whose address is filled
 * in by native_code__set_pages(); or -1.
 */
static int fill_pfn(struct native_maker *m, const struct ev_field *f,
		    const struct native_field *row)
{
	int id = btf__find_by_name_kind(m->btf, "page", BTF_KIND_STRUCT);
	int64_t size = id < 0 ? 0 : btf__resolve_size(m->btf, (uint32_t)id);
	unsigned int is_page, end;

	if (f->kind != EV_FIELD_INT || f->size != 8)
		return native_refuse(m, f, "%s of %u bytes cannot hold the number of a page",
				     f->type, f->size);
	if (size <= 0 || size & (size - 1))
		return native_refuse(m, f, "struct page has %lld bytes", (long long)size);
	native_load_arg(m, BPF_REG_1, row->arg);
	is_page = native_jump(m, BPF_JNE, BPF_REG_1, 0);
	native_op(m, NATIVE_SET, BPF_REG_1, -1);
	end = native_jump(m, BPF_JA, 0, 0);
	native_land(m, is_page);
	m->code->pages_at = m->code->nr;
	native_set64(m, BPF_REG_2, 0);
	native_op_register(m, NATIVE_SUB, BPF_REG_1, BPF_REG_2);
	native_op(m, NATIVE_RIGHT_SIGNED, BPF_REG_1, __builtin_ctzll((uint64_t)size));
	native_land(m, end);
	native_store(m, BPF_REG_1, f->offset, 8);
	return 0;
}

/* The constant of a flag whose bit is an enum constant; 0: the kernel has no such constant. */
static int32_t flag(struct native_maker *m, const char *bit)
{
	int64_t value;

	return constants__lookup((void *)m->btf, bit, &value) && value >= 0 && value < 31 ?
		       (int32_t)(1u << value) :
		       0;
}

/*
 * Whether kmem_cache_alloc(call_site, ptr, s, gfp_flags, node) is accounted to a cgroup.  The
 * constant _SLAB_ACCOUNT exists if the kernel was configured to do so.
 */
static int fill_accounted(struct native_maker *m, const struct ev_field *f,
			  const struct native_field *row)
{
	int32_t slab = flag(m, "_SLAB_ACCOUNT"), gfp = flag(m, "___GFP_ACCOUNT_BIT");
	struct native_place p;
	unsigned int by_gfp, by_slab, end;
	int err = find_place(m, f, row, &p);

	if (err)
		return err;
	if (!is_bool(f) || f->size != 1 || p.kind != NATIVE_NUMBER || p.size != 4 || !slab ||
	    !gfp || m->nr_args != 5)
		return native_refuse(m, f, "which flags account an allocation is unknown");
	native_find(m, row->arg, &p);
	native_follow(m);
	native_op(m, NATIVE_AND, BPF_REG_1, slab);
	by_slab = native_jump(m, BPF_JNE, BPF_REG_1, 0);
	native_load_arg(m, BPF_REG_1, 3);
	native_op(m, NATIVE_AND, BPF_REG_1, gfp);
	by_gfp = native_jump(m, BPF_JNE, BPF_REG_1, 0);
	end = native_jump(m, BPF_JA, 0, 0);
	native_land(m, by_slab);
	native_land(m, by_gfp);
	native_op(m, NATIVE_SET, BPF_REG_1, 1);
	native_land(m, end);
	native_store(m, BPF_REG_1, f->offset, 1);
	return 0;
}

static int (*const fill[])(struct native_maker *m, const struct ev_field *f,
			   const struct native_field *row) = {
	[FILL_ARG] = fill_arg,	   [FILL_MEMBER] = fill_member, [FILL_STRING] = fill_string,
	[FILL_STATE] = fill_state, [FILL_PFN] = fill_pfn,	[FILL_ACCOUNTED] = fill_accounted,
};

int native_fill_field(struct native_maker *m, const struct ev_field *f,
		      const struct native_field *row)
{
	if (row->arg != NATIVE_CURRENT && (unsigned int)row->arg >= m->nr_args)
		return native_refuse(m, f, "the event has no argument %d", row->arg + 1);
	return fill[row->op](m, f, row);
}
