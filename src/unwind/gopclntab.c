// SPDX-License-Identifier: GPL-2.0-only
/* Makes unwind rules of Go's pclntab. */
#include "gopclntab.h"

#include <errno.h>
#include <string.h>

#include "arch_code.h"
#include "arch_regs.h"
#include "cleanup.h"
#include "cursor.h"
#include "symbols/elf_go.h"
#include "units.h"

#define HEADER_LEN 72
#define HEADER_NR 8 /* offset of the number of functions; the rest depends on the version */
#define FUNCTION_ALIGN 32
#define NAME_LEN 32 /* enough of a name to recognise it */
#define CODE_LEN 16 /* enough for one or two instructions */

enum { /* _func.flag */
       FLAG_TOP = 1 << 0,
       FLAG_SP_WRITE = 1 << 1, /* sets the stack pointer in a way that no table describes */
       FLAG_ASM = 1 << 2,
};

struct unw_go_layout {
	uint32_t magic;
	bool relative; /* entries are u32 relative to the text's start, else addresses */
	bool pushes_fp; /* functions may save the frame pointer by a push */
	uint8_t names, values, funcs; /* offsets in the header; 0: relative to the table's start */
	uint8_t func_name, func_sp, func_flags, func_size; /* in struct _func; flags 0: none */
};

static const struct unw_go_layout layouts[] = {
	{ 0xfffffffb, false, false, 0, 0, 0, 8, 20, 0, 40 },
	{ 0xfffffffa, false, false, 24, 48, 56, 8, 20, 0, 44 },
	{ 0xfffffff0, true, false, 32, 56, 64, 4, 16, 37, 40 },
	{ 0xfffffff1, true, true, 32, 56, 64, 4, 16, 41, 44 },
};

/* Functions at the base of a stack, for versions without a flag for them. */
static const char *const tops[] = { "runtime.goexit", "runtime.rt0_go", "runtime.mstart",
				    "runtime.mcall", "runtime.morestack" };

/* ---- the section ----------------------------------------------------------------------------- */

static const struct unw_go_layout *find_layout(const uint8_t *header)
{
	uint32_t magic;

	memcpy(&magic, header, 4);
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++) {
		/* next: two zeros, the size of instructions and that of pointers */
		if (layouts[i].magic == magic && !header[4] && !header[5] && header[6] == 1 &&
		    header[7] == 8)
			return &layouts[i];
	}
	return NULL;
}

static uint64_t header_field(const uint8_t *header, uint8_t offset)
{
	uint64_t v = 0;

	if (offset)
		memcpy(&v, header + offset, 8);
	return v;
}

static size_t entry_size(const struct unw_go *go)
{
	return go->layout->relative ? 8 : 16;
}

/* Finds the tables and checks that the section has room for them. */
static bool find_parts(struct unw_go *go, const Elf64_Shdr *s, const uint8_t *header)
{
	uint64_t values = header_field(header, go->layout->values);
	uint64_t funcs = header_field(header, go->layout->funcs);
	uint64_t table = go->layout->funcs ? funcs : HEADER_NR + 8;
	uint64_t nr = header_field(header, HEADER_NR), end = s->sh_offset + s->sh_size;

	if (values > s->sh_size || funcs > s->sh_size || end < s->sh_size || nr >= UNW_MAX_REF ||
	    (nr + 1) * entry_size(go) > s->sh_size - table)
		return false;
	go->nr = (uint32_t)nr;
	go->names = s->sh_offset + header_field(header, go->layout->names);
	go->table = (struct unw_part){ .elf = go->elf, .offset = s->sh_offset + table };
	go->funcs = (struct unw_part){ .elf = go->elf, .offset = s->sh_offset + funcs };
	go->values = (struct unw_part){ .elf = go->elf, .offset = s->sh_offset + values };
	go->table.len = end - go->table.offset;
	go->funcs.len = end - go->funcs.offset;
	go->values.len = end - go->values.offset;
	return true;
}

static int load(struct unw_go *go, const Elf64_Shdr *s)
{
	struct unw_bytes header;
	bool ok;
	int err;

	if (s->sh_size < HEADER_LEN)
		return -ERANGE;
	err = unw_elf__read(go->elf, s->sh_offset, HEADER_LEN, &header);
	if (err)
		return err;
	go->layout = find_layout(header.p);
	ok = go->layout && find_parts(go, s, header.p);
	unw_bytes__drop(&header);
	if (ok && go->layout->relative)
		go->text = elf_go__text(&go->elf->file, s);
	return ok ? 0 : -ENOENT;
}

int unw_go__open(const struct unw_elf *elf, struct unw_go *ret_go)
{
	const Elf64_Shdr *s = elf_go__section(&elf->file);
	int err;

	*ret_go = (struct unw_go){ .elf = elf };
	if (!s)
		return -ENOENT;
	err = load(ret_go, s);
	return err == -ERANGE ? -ENOENT : err;
}

void unw_go__close(struct unw_go *go)
{
	unw_part__close(&go->table);
	unw_part__close(&go->funcs);
	unw_part__close(&go->values);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Reads the first bytes of a name, with NUL. */
static void read_name(const struct unw_go *go, uint32_t offset, char ret_name[NAME_LEN])
{
	struct unw_bytes b;

	memset(ret_name, 0, NAME_LEN);
	if (unw_elf__read(go->elf, go->names + offset, NAME_LEN - 1, &b))
		return;
	memcpy(ret_name, b.p, b.len);
	unw_bytes__drop(&b);
}

/* Recognises special functions by their name or, in newer versions, by flags and code. */
static void set_kind(const struct unw_go *go, uint32_t name_offset, struct unw_go_func *f)
{
	bool has_flags = go->layout->func_flags;
	char name[NAME_LEN] = "";
	struct unw_bytes b;

	f->is_top = f->is_sigreturn = false;
	if (!has_flags || f->flags & FLAG_TOP)
		read_name(go, name_offset, name);
	if (has_flags) /* a signal handler's stack continues in the interrupted one */
		f->is_top = f->flags & FLAG_TOP && strcmp(name, "runtime.sigtramp");
	for (size_t i = 0; !has_flags && i < ARRAY_SIZE(tops); i++)
		f->is_top |= !strcmp(name, tops[i]);
	f->is_sigreturn = !strcmp(name, "runtime.sigreturn");
	if (f->flags & FLAG_ASM && !unw_elf__read_vaddr(go->elf, f->start, CODE_LEN, &b)) {
		f->is_sigreturn = arch_code__is_sigreturn(b.p, b.len);
		unw_bytes__drop(&b);
	}
}

/* The i-th entry of the table of functions. */
static bool read_entry(struct unw_go *go, uint32_t i, uint64_t *ret_start, uint64_t *ret_end,
		       uint64_t *ret_at)
{
	unsigned int n = go->layout->relative ? 4 : 8;
	struct cursor c;
	const uint8_t *p;
	size_t len;

	p = unw_part__get(&go->table, (uint64_t)i * 2 * n, 3 * n, &len);
	if (!p)
		return false;
	c = cursor__new(p, len);
	*ret_start = cursor__uint(&c, n);
	*ret_at = cursor__uint(&c, n);
	*ret_end = cursor__uint(&c, n);
	return !c.bad && *ret_start < *ret_end;
}

bool unw_go__func(struct unw_go *go, uint32_t i, struct unw_go_func *ret_func)
{
	const struct unw_go_layout *l = go->layout;
	uint64_t start, end, at, entry = 0;
	const uint8_t *p;
	uint32_t name;
	size_t len;

	if (!read_entry(go, i, &start, &end, &at))
		return false;
	p = unw_part__get(&go->funcs, at, l->func_size, &len);
	if (!p || len < l->func_size)
		return false;
	memcpy(&entry, p, l->relative ? 4 : 8);
	if (entry != start) /* entries for code between Go's functions have no struct _func */
		return false;
	memcpy(&name, p + l->func_name, 4);
	memcpy(&ret_func->values, p + l->func_sp, 4);
	ret_func->flags = l->func_flags ? p[l->func_flags] : 0;
	ret_func->start = start + go->text;
	ret_func->end = end + go->text;
	set_kind(go, name, ret_func);
	ret_func->start -= ret_func->is_sigreturn; /* it is not called: the lookup is for ip - 1 */
	return ret_func->end > ret_func->start;
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct run {
	struct unw_go *go;
	const struct unw_go_func *f;
	uint64_t delta, *unknown;
	struct unw_rules *rules;
	struct unw_builder *b;
	bool in_frame; /* the prologue has created the frame */
	enum unw_how fp; /* where the caller's frame pointer is in it */
};

static int put_state(struct run *r, uint64_t addr, const struct unw_state *s)
{
	uint32_t rule;
	int err;

	err = unw_rules__encode(r->rules, s, &rule);
	if (err)
		return err;
	*r->unknown += rule == (UNW_ESCAPE | UNW_NONE);
	unw_builder__row(r->b, addr + r->delta, rule);
	return 0;
}

/* sp: bytes by which the stack pointer is below its value at the function's entry. */
static int put_row(struct run *r, uint64_t addr, int64_t sp, enum unw_how fp)
{
	struct unw_state s = {
		.cfa = sp < 0 ? UNW_CFA_UNKNOWN : UNW_CFA_REG,
		.cfa_reg = UNW_REG_SP,
		.cfa_off = sp + 8,
		.regs[UNW_OF_RA] = { UNW_AT_CFA, -8 },
		.regs[UNW_OF_FP] = { fp, fp == UNW_AT_CFA ? -16 : 0 },
	};

	return put_state(r, addr, &s);
}

/*
 * The frame was created just before addr.  Compiled functions store the frame pointer at its upper
 * end, by the push that creates it, or by the next instruction, whose length is returned.
 * Assembler functions may omit it.
 */
static unsigned int store_fp(struct run *r, uint64_t addr, int64_t sp)
{
	uint32_t off = (uint32_t)(sp - 8);
	bool pushed = sp == 8 && r->go->layout->pushes_fp, stored = true;
	struct unw_bytes b;

	if (r->f->flags & FLAG_ASM) {
		pushed = stored = false;
		if (!unw_elf__read_vaddr(r->go->elf, addr - 1, CODE_LEN, &b)) {
			pushed = sp == 8 && arch_code__pushes_fp(b.p[0]);
			stored = arch_code__stores_fp(b.p + 1, b.len - 1, off);
			unw_bytes__drop(&b);
		}
	}
	r->in_frame = true;
	r->fp = pushed || stored ? UNW_AT_CFA : UNW_LOST;
	return stored && !pushed ? arch_code__store_fp_len(off) : 0;
}

/* In [addr, +len) the stack pointer is sp bytes below its value at the entry. */
static int put_range(struct run *r, uint64_t addr, uint64_t len, int64_t sp)
{
	unsigned int skip = 0;
	int err;

	if (sp <= 0)
		return put_row(r, addr, sp, UNW_SAME);
	if (!r->in_frame)
		skip = store_fp(r, addr, sp);
	if (skip) {
		err = put_row(r, addr, sp, UNW_SAME);
		if (err)
			return err;
	}
	return skip < len ? put_row(r, addr + skip, sp, r->fp) : 0;
}

static int run_values(struct run *r)
{
	uint64_t addr = r->f->start, step;
	struct cursor c = { 0 };
	int64_t sp = -1;
	const uint8_t *p;
	size_t len;
	int err = 0;

	p = unw_part__get(&r->go->values, r->f->values, UNW_WINDOW_MAX, &len);
	if (p)
		c = cursor__new(p, len);
	/* functions may overlap in a crafted table: each runs only up to the next one */
	while (!err && addr < r->f->end && addr + r->delta < r->b->end) {
		uint64_t v = cursor__uleb(&c);

		if (!v && addr != r->f->start)
			break;
		sp += (int32_t)(v >> 1 ^ -(v & 1));
		step = cursor__uleb(&c);
		if (c.bad || !step || step > r->f->end - addr)
			break;
		err = put_range(r, addr, step, sp);
		addr += step;
	}
	if (!err && r->f->end - addr >= FUNCTION_ALIGN) /* less is padding */
		err = put_row(r, addr, -1, UNW_SAME);
	return err;
}

int unw_go__run(struct unw_go *go, const struct unw_go_func *f, uint64_t delta,
		struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown)
{
	struct run r = { go, f, delta, unknown, rules, b, false, UNW_SAME };

	if (f->is_top || f->is_sigreturn) {
		unw_builder__row(b, f->start + delta,
				 UNW_ESCAPE | (f->is_top ? UNW_END : UNW_SIGNAL));
		return 0;
	}
	if (!f->values || f->flags & FLAG_SP_WRITE)
		return put_row(&r, f->start, -1, UNW_SAME);
	return run_values(&r);
}
