// SPDX-License-Identifier: GPL-2.0-only
/* Builds the unwind table of a file from all sources that it has. */
#include "unwind.h"

#include <errno.h>
#include <stdlib.h>

#include "arch_code.h"
#include "arch_regs.h"
#include "bare_code.h"
#include "builder.h"
#include "cfi.h"
#include "cleanup.h"
#include "elf_image.h"
#include "gopclntab.h"
#include "units.h"

#define NONE (UNW_ESCAPE | UNW_NONE)
/* Bytes from clone()'s system call to the child's code, which is not aligned like a function. */
#define FORK_MIN 6
#define FORK_MAX 16

/* A file whose table is being built. */
struct table_build {
	struct unw_elf elf;
	struct unw_cfi eh, debug;
	struct unw_go go;
	struct unw_bare bare;
	struct unw_units units;
	size_t nr_first; /* units of the earlier sources, sorted: they take precedence */
	struct unw_rules rules;
	struct unw_builder builder;
	struct unwind_table *table;
};

static void table_build__free(struct table_build *m)
{
	unw_cfi__close(&m->eh);
	unw_cfi__close(&m->debug);
	unw_go__close(&m->go);
	unw_bare__close(&m->bare);
	unw_units__free(&m->units);
	unw_rules__free(&m->rules);
	unw_builder__free(&m->builder);
	unw_elf__close(&m->elf);
	free(m->table);
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Converts a code address to an offset in the file; *ret_end is the end of its segment. */
static bool code_offset(const struct unw_elf *elf, uint64_t vaddr, uint64_t *ret_off,
			uint64_t *ret_end)
{
	const struct unw_segment *s = unw_elf__code(elf, vaddr);

	if (!s)
		return false;
	*ret_off = vaddr - s->vaddr + s->offset;
	*ret_end = MIN(s->offset + s->size, UNW_MAX_OFFSET);
	return *ret_off < UNW_MAX_OFFSET;
}

/* A range of code that a source describes. */
struct unit {
	uint64_t start, end; /* in the file */
	uint64_t delta; /* file offset minus address */
	struct unw_fde fde;
	struct unw_go_func go;
};

static bool set_place(const struct unw_elf *elf, uint64_t start, uint64_t end, struct unit *unit)
{
	uint64_t off, limit;

	if (!code_offset(elf, start, &off, &limit))
		return false;
	unit->start = off;
	unit->end = off + MIN(end - start, limit - off);
	unit->delta = off - start;
	return true;
}

static struct unw_cfi *cfi_of(struct table_build *m, enum unw_kind kind)
{
	return kind == UNW_KIND_EH ? &m->eh : &m->debug;
}

static bool read_unit(struct table_build *m, uint64_t v, struct unit *ret_unit)
{
	enum unw_kind kind = unw_unit__kind(v);
	uint32_t ref = unw_unit__ref(v);

	if (kind == UNW_KIND_GO)
		return unw_go__func(&m->go, ref, &ret_unit->go) &&
		       set_place(&m->elf, ret_unit->go.start, ret_unit->go.end, ret_unit);
	if (kind == UNW_KIND_CODE)
		return set_place(&m->elf, m->bare.v[ref].start,
				 m->bare.v[ref].start + m->bare.v[ref].len, ret_unit);
	return unw_cfi__fde(cfi_of(m, kind), ref, &ret_unit->fde) &&
	       set_place(&m->elf, ret_unit->fde.start, ret_unit->fde.end, ret_unit);
}

/* Whether an earlier source covers this offset. */
static bool is_covered(struct table_build *m, uint64_t off)
{
	const uint64_t *v = unw_units__before(&m->units, m->nr_first, off);
	struct unit unit;

	return v && read_unit(m, *v, &unit) && off < unit.end;
}

static int add_unit(struct table_build *m, uint64_t start, uint64_t end, enum unw_kind kind,
		    uint64_t ref)
{
	struct unit unit;

	if (!set_place(&m->elf, start, end, &unit) || (m->nr_first && is_covered(m, unit.start)))
		return 0;
	return unw_units__add(&m->units, unit.start, kind, ref);
}

static int add_eh(void *ctx, uint64_t pos, const struct unw_fde *fde)
{
	return add_unit(ctx, fde->start, fde->end, UNW_KIND_EH, pos);
}

static int add_debug(void *ctx, uint64_t pos, const struct unw_fde *fde)
{
	return add_unit(ctx, fde->start, fde->end, UNW_KIND_DEBUG, pos);
}

/* The units added so far take precedence over later ones.  Returns whether any were added. */
static bool close_source(struct table_build *m, enum unwind_source source)
{
	bool added = m->units.nr > m->nr_first;

	unw_units__sort(&m->units);
	m->nr_first = m->units.nr;
	if (added)
		m->table->sources |= source;
	return added;
}

static int collect_eh(struct table_build *m)
{
	int err = unw_cfi__open_eh(&m->elf, &m->eh);

	if (!err)
		err = unw_cfi__each(&m->eh, add_eh, m);
	if (!err && close_source(m, UNWIND_EH_FRAME))
		m->table->cfi_bytes += m->eh.bytes.len;
	return err;
}

static int collect_go(struct table_build *m)
{
	struct unw_go_func f;
	int err = unw_go__open(&m->elf, &m->go);

	for (uint32_t i = 0; i < m->go.nr && !err; i++) {
		if (unw_go__func(&m->go, i, &f))
			err = add_unit(m, f.start, f.end, UNW_KIND_GO, i);
	}
	if (!err)
		close_source(m, UNWIND_GOPCLNTAB);
	return err;
}

static int collect_debug(struct table_build *m)
{
	int err;

	/* Go's .debug_frame repeats Go's own tables, without frame pointers and stack switches */
	if (m->table->sources & UNWIND_GOPCLNTAB)
		return -ENOENT;
	err = unw_cfi__open_debug(&m->elf, &m->debug);
	if (!err)
		err = unw_cfi__each(&m->debug, add_debug, m);
	if (!err && close_source(m, UNWIND_DEBUG_FRAME))
		m->table->cfi_bytes += m->debug.bytes.len;
	return err;
}

static bool is_covered_address(void *ctx, uint64_t addr)
{
	struct table_build *m = ctx;
	uint64_t off, end;

	return code_offset(&m->elf, addr, &off, &end) && is_covered(m, off);
}

static int collect_bare(struct table_build *m)
{
	int err = unw_bare__open(&m->elf, is_covered_address, m, &m->bare);

	for (uint32_t i = 0; i < m->bare.nr && !err; i++) {
		const struct unw_bare_func *f = &m->bare.v[i];

		err = add_unit(m, f->start, f->start + f->len, UNW_KIND_CODE, i);
	}
	if (!err)
		close_source(m, UNWIND_SYNTHESISED);
	return err;
}

static int collect(struct table_build *m)
{
	static int (*const sources[])(struct table_build * m) = { collect_eh, collect_go,
								  collect_debug, collect_bare };
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		err = sources[i](m);
		if (err && err != -ENOENT)
			return err;
	}
	return m->units.nr ? 0 : -ENOENT;
}

/* ---- the table ------------------------------------------------------------------------------- */

/*
 * The CFI of the C library's clone() ends at its system call, because that returns on two stacks:
 * ten bytes before the child's code, which has an FDE of its own.
 */
static int add_fork(struct table_build *m, const struct unit *before, uint64_t next_start)
{
	static const struct unw_state state = {
		.cfa = UNW_CFA_FORK,
		.cfa_reg = UNW_REG_SP,
		.cfa_off = 8,
		.regs = { [UNW_OF_RA] = { UNW_AT_CFA, -8 } },
	};
	_cleanup_(unw_bytes__drop) struct unw_bytes code = { 0 };
	uint64_t gap = next_start - before->end;
	uint32_t rule;
	int err;

	if (next_start <= before->end || gap < FORK_MIN || gap > FORK_MAX || next_start % 16 == 0 ||
	    m->builder.next_rule != UNW_SIMPLE(0, 1, 0, 0) ||
	    unw_elf__read(&m->elf, before->end, gap, &code) ||
	    !arch_code__is_fork(code.p, code.len))
		return 0;
	err = unw_rules__encode(&m->rules, &state, &rule);
	if (err)
		return err;
	unw_builder__range(&m->builder, before->end, next_start);
	unw_builder__row(&m->builder, before->end, rule);
	return 0;
}

static int add_rows(struct table_build *m, uint64_t v, uint64_t next_start)
{
	uint64_t *unknown = &m->table->unknown;
	struct unit u;
	int err;

	if (!read_unit(m, v, &u))
		return 0;
	unw_builder__range(&m->builder, u.start, MIN(u.end, next_start));
	if (unw_unit__kind(v) == UNW_KIND_GO)
		return unw_go__run(&m->go, &u.go, u.delta, &m->rules, &m->builder, unknown);
	if (unw_unit__kind(v) == UNW_KIND_CODE)
		return unw_bare__run(&m->bare, unw_unit__ref(v), u.delta, &m->rules, &m->builder,
				     unknown);
	err = unw_cfi__run(cfi_of(m, unw_unit__kind(v)), &u.fde, u.delta, &m->rules, &m->builder,
			   unknown);
	return err ?: add_fork(m, &u, next_start);
}

static int build(struct table_build *m)
{
	const struct unw_units *u = &m->units;
	struct unit last;
	int err;

	if (!read_unit(m, u->v[u->nr - 1], &last))
		return -ENOENT;
	err = unw_builder__init(&m->builder, unw_unit__start(u->v[0]), last.end);
	for (size_t i = 0; i < u->nr && !err; i++)
		err = add_rows(m, u->v[i],
			       i + 1 < u->nr ? unw_unit__start(u->v[i + 1]) : UNW_MAX_OFFSET);
	return err ?: unw_builder__finish(&m->builder, &m->rules, m->table);
}

static int make(struct table_build *m, struct unwind_table **ret_table)
{
	int err;

	m->table = calloc(1, sizeof(*m->table));
	if (!m->table)
		return -ENOMEM;
	err = collect(m);
	if (!err)
		err = build(m);
	if (err)
		return err;
	*ret_table = take_ptr(m->table);
	return 0;
}

int unwind__from_fd(int fd, struct unwind_table **ret_table)
{
	_cleanup_(table_build__free) struct table_build m = { .elf.file.fd = -1 };
	int err;

	err = unw_elf__open_fd(&m.elf, fd);
	return err ?: make(&m, ret_table);
}

int unwind__from_image(const void *image, size_t len, bool mapped, struct unwind_table **ret_table)
{
	_cleanup_(table_build__free) struct table_build m = { .elf.file.fd = -1 };
	int err;

	err = unw_elf__open_image(&m.elf, image, len, mapped);
	return err ?: make(&m, ret_table);
}

void unwind__free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->words);
	free(t);
}

/* A page's rows: ascending from offset 0, in one chunk, with rules that exist. */
static bool rows_are_valid(const struct unwind_table *t, uint64_t page)
{
	uint32_t first = (uint32_t)page, nr = page >> 32, i, rule;
	const uint32_t *rows = t->words + first;

	if (!nr || nr > 1 << UNW_PAGE_SHIFT || first > t->rules || nr > t->rules - first ||
	    first / UNW_CHUNK_WORDS != (first + nr - 1) / UNW_CHUNK_WORDS || UNW_ROW_OFF(rows[0]))
		return false;
	for (i = 0; i < nr; i++) {
		rule = UNW_ROW_RULE(rows[i]);
		if (i && UNW_ROW_OFF(rows[i]) <= UNW_ROW_OFF(rows[i - 1]))
			return false;
		if (rule & UNW_ESCAPE && (rule & ~UNW_ESCAPE) >= UNW_ESCAPE_RULES &&
		    (rule & ~UNW_ESCAPE) - UNW_ESCAPE_RULES >= t->nr_rules)
			return false;
	}
	return true;
}

bool unwind__is_valid(const struct unwind_table *t)
{
	uint64_t words = 2ull * t->nr_pages, sum = 0, page;
	uint32_t i;

	if (t->rules % 2 || words > t->rules || t->rules > t->nr_words ||
	    t->nr_rules != (t->nr_words - t->rules) / 2 || t->nr_words % 2)
		return false;
	for (i = 0; i < t->nr_pages; i++) {
		page = ((const uint64_t *)t->words)[i];
		sum += page >> 32;
		/* pages of one row may share it, so the sum limits the work */
		if ((uint32_t)page < words || sum > 2ull * t->nr_words || !rows_are_valid(t, page))
			return false;
	}
	return true;
}

uint32_t unwind__find(const struct unwind_table *t, uint64_t file_offset)
{
	uint64_t page = (file_offset >> UNW_PAGE_SHIFT) - t->first_page;
	uint32_t off = file_offset & ((1 << UNW_PAGE_SHIFT) - 1), lo = 0, hi;
	const uint32_t *rows;
	uint64_t entry;

	if (page >= t->nr_pages)
		return NONE;
	entry = ((const uint64_t *)t->words)[page];
	rows = t->words + (uint32_t)entry;
	hi = (uint32_t)(entry >> 32) & 0xffff;
	while (hi - lo > 1) { /* rows[lo] starts at or before off, rows[hi] after it */
		uint32_t mid = lo + (hi - lo) / 2;

		if (UNW_ROW_OFF(rows[mid]) <= off)
			lo = mid;
		else
			hi = mid;
	}
	return UNW_ROW_RULE(rows[lo]);
}
