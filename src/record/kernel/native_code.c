// SPDX-License-Identifier: GPL-2.0-only
/* Checks an event against its rows and makes the code that fills its record. */
#include "native_code.h"

#include <errno.h>
#include <string.h>
#include <bpf/btf.h>

#include "cleanup.h"
#include "events/format.h"
#include "native_priv.h"
#include "native_rows.h"
#include "strbuf.h"

/* Marks the bytes of all fields: each must lie in the record, at its natural offset, and alone. */
static int check_bounds(struct native_maker *m, const struct ev_format *fmt,
			bool taken[NATIVE_MAX_FIXED])
{
	unsigned int i;
	uint32_t at;

	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);
		bool is_array = f->kind == EV_FIELD_STRING || f->kind == EV_FIELD_ARRAY;
		uint32_t end = f->is_common ? NATIVE_COMMON : m->fixed;

		if (!f->size || f->offset > end || f->size > end - f->offset ||
		    (!is_array && f->offset % f->size))
			return native_refuse(m, f, "%s of %u bytes cannot be at offset %u", f->type,
					     f->size, f->offset);
		for (at = f->offset; at < f->offset + f->size; at++) {
			if (taken[at] || (at < NATIVE_COMMON && !f->is_common))
				return native_refuse(m, f, "%s overlaps another field", f->type);
			taken[at] = true;
		}
	}
	return 0;
}

/* Clears what no field has, as if the kernel had done so; r1 is lost. */
static void fill_gaps(struct native_maker *m, const bool taken[NATIVE_MAX_FIXED])
{
	uint32_t at, size;
	bool is_set = false;

	for (at = NATIVE_COMMON; at < m->fixed; at += size) {
		size = 1;
		if (taken[at])
			continue;
		if (at % 4 == 0 && at + 4 <= m->fixed && !taken[at + 1] && !taken[at + 2] &&
		    !taken[at + 3])
			size = 4;
		if (!is_set)
			native_op(m, NATIVE_SET, BPF_REG_1, 0);
		is_set = true;
		native_store(m, BPF_REG_1, at, size);
	}
}

/* r0 = the size of the record. */
static void set_size(struct native_maker *m)
{
	native_end_of_record(m, BPF_REG_0, BPF_REG_1);
	if (m->string_at)
		native_fail_if(m, BPF_JGT, BPF_REG_0, NATIVE_ROOM);
}

static void finish(struct native_maker *m)
{
	unsigned int i, end;

	set_size(m);
	if (!m->nr_to_failure)
		return;
	end = native_jump(m, BPF_JA, 0, 0);
	for (i = 0; i < m->nr_to_failure; i++)
		native_land(m, m->to_failure[i]);
	native_op(m, NATIVE_SET, BPF_REG_0, 0);
	native_land(m, end);
}

static int make_field(struct native_maker *m, const struct ev_field *f)
{
	const struct native_field *row = native_event__field(m->code->event, f->name);

	if (!row)
		return native_refuse(m, f, "the field is unknown");
	return native_fill_field(m, f, row);
}

static int make(struct native_maker *m, const struct ev_format *fmt)
{
	bool taken[NATIVE_MAX_FIXED] = { 0 };
	unsigned int i;
	int err;

	m->most = m->fixed = ev_format__fixed_size(fmt);
	if (m->fixed < NATIVE_COMMON || m->fixed > NATIVE_MAX_FIXED)
		return native_refuse(m, NULL, "its fields take %u bytes of at most %d", m->fixed,
				     NATIVE_MAX_FIXED);
	err = check_bounds(m, fmt, taken);
	if (err)
		return err;
	fill_gaps(m, taken);
	for (i = 0; !err && i < ev_format__nr_fields(fmt); i++)
		if (!ev_format__field(fmt, i)->is_common)
			err = make_field(m, ev_format__field(fmt, i));
	if (err)
		return err;
	finish(m);
	return m->is_full ?
		       native_refuse(m, NULL, "it takes more than %d instructions", NATIVE_HOLE) :
		       0;
}

/* The row of the event whose prototype is the kernel's. */
static int choose_row(struct native_maker *m, const struct native_event *rows, size_t nr)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	int n = native_types__args(m->btf, rows->event, m->args, &text);
	size_t i;

	if (n < 0)
		return native_refuse(m, NULL, "the kernel's types do not describe its arguments");
	if (strbuf__failed(&text))
		return -ENOMEM;
	m->nr_args = (unsigned int)n;
	for (i = 0; i < nr; i++) {
		if (strcmp(rows[i].args, text.s ?: ""))
			continue;
		m->code->event = &rows[i];
		return 0;
	}
	return native_refuse(m, NULL, "its arguments (%s) are unknown", text.s ?: "");
}

static int check_text(struct native_maker *m, const char *text)
{
	uint64_t hash = native_rows__text_hash(text);
	size_t i;

	for (i = 0; hash && i < NATIVE_MAX_TEXTS; i++)
		if (m->code->event->texts[i] == hash)
			return 0;
	return native_refuse(m, NULL, "its print fmt is unknown (%#llx)", (unsigned long long)hash);
}

enum native_reader native_code__reader(const struct btf *btf)
{
	return native_types__function(btf, "bpf_rdonly_cast") && native_types__any_word(btf) ?
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
	struct native_maker m = {
		.btf = btf,
		.reader = reader,
		.cast = native_types__function(btf, "bpf_rdonly_cast"),
		.any_word = native_types__any_word(btf),
		.code = &code,
		.why = ret_why,
	};
	int err;

	ret_why[0] = '\0';
	if (!rows)
		return -ENOENT;
	if (reader == NATIVE_BY_CAST && (!m.cast || !m.any_word))
		return native_refuse(&m, NULL, "the kernel has no bpf_rdonly_cast()");
	err = choose_row(&m, rows, nr);
	if (!err)
		err = check_text(&m, text);
	if (!err)
		err = make(&m, fmt);
	if (!err)
		*ret_code = code;
	return err;
}

/* The fields have exactly these names and places. */
static int check_call_fields(struct native_maker *m, const struct ev_format *fmt, bool is_exit)
{
	const struct {
		const char *name;
		uint32_t offset, size;
	} want[] = {
		{ "id", 8, 8 },
		{ is_exit ? "ret" : "args", 16, is_exit ? 8 : 48 },
	};
	unsigned int i, nr = 0;

	for (i = 0; i < ev_format__nr_fields(fmt); i++) {
		const struct ev_field *f = ev_format__field(fmt, i);

		if (f->is_common)
			continue;
		if (nr == ARRAY_SIZE(want) || strcmp(f->name, want[nr].name))
			return native_refuse(m, f, "the field is unknown");
		if (f->offset != want[nr].offset || f->size != want[nr].size)
			return native_refuse(m, f, "%s of %u bytes cannot be at offset %u", f->type,
					     f->size, f->offset);
		nr++;
	}
	return nr == ARRAY_SIZE(want) ? 0 : native_refuse(m, NULL, "it lacks fields");
}

int native_code__check_call(bool is_exit, const struct ev_format *fmt, const char *text,
			    const struct btf *btf, char ret_why[NATIVE_WHY])
{
	struct native_code code = { 0 };
	struct native_maker m = { .btf = btf, .code = &code, .why = ret_why };
	int err;

	ret_why[0] = '\0';
	err = choose_row(&m, native_rows__call(is_exit), 1);
	if (!err)
		err = check_text(&m, text);
	return err ?: check_call_fields(&m, fmt, is_exit);
}

void native_code__set_pages(struct native_code *code, uint64_t address)
{
	struct bpf_insn *insn = &code->insns[code->pages_at];

	if (!code->pages_at)
		return;
	insn[0].imm = (int32_t)address;
	insn[1].imm = (int32_t)(address >> 32);
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
	if (code->pages_at && !code->insns[code->pages_at].imm &&
	    !code->insns[code->pages_at + 1].imm)
		return -ENODATA;
	memcpy(insns + at, code->insns, code->nr * sizeof(*insns));
	return 0;
}
