// SPDX-License-Identifier: GPL-2.0-only
/*
 * compare FILE...: at every boundary of rows and at random places of real files, a rule must give
 * the same frame as libdw.  Both are evaluated on one synthetic machine state: the word at an
 * address is a hash of the address, so that nothing agrees by chance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "unwind/unwind.h"

#define RANDOM_PLACES 40000 /* per file */
#define MAX_BOUNDARIES 40000
#define MIN_COMPARED 100000
#define MAX_UNKNOWN 1000 /* at most one in this many */
#define WRONG_SHOWN 10
#define RUNAWAY 64 /* operations of an expression */

enum { BX = 3, BP = 6, SP = 7, IP = 16 };

struct machine {
	uint64_t r[17];
};

enum answer { NOTHING, END, SIGNAL, FRAME };

struct caller {
	enum answer answer;
	uint64_t cfa, ip, bp, bx;
	bool bp_lost, bx_lost;
};

struct file {
	const char *name;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *debug;
	struct unwind_table *table;
	uint64_t nr_compared, nr_unknown, nr_padding, nr_wrong, nr_lost, nr_ends;
	uint64_t entry;
	bool verbose;
};

static char **files;
static int nr_files;

static uint64_t hash(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t next_random(void)
{
	static uint64_t state = 1;

	return hash(state++);
}

static uint64_t memory(uint64_t addr)
{
	return hash(addr + 0x9e3779b97f4a7c15);
}

/* ---- libdw's answer -------------------------------------------------------------------------- */

static bool run_op(const Dwarf_Op *op, const struct machine *m, uint64_t cfa, uint64_t *s, int *n)
{
	uint64_t a = *n ? s[*n - 1] : 0;

	switch (op->atom) {
	case DW_OP_breg0 ... DW_OP_breg16:
		s[(*n)++] = m->r[op->atom - DW_OP_breg0] + op->number;
		return true;
	case DW_OP_bregx:
		s[(*n)++] = m->r[op->number] + op->number2;
		return true;
	case DW_OP_call_frame_cfa:
		s[(*n)++] = cfa;
		return true;
	case DW_OP_lit0 ... DW_OP_lit31:
		s[(*n)++] = op->atom - DW_OP_lit0;
		return true;
	case DW_OP_plus_uconst:
		s[*n - 1] = a + op->number;
		return true;
	case DW_OP_deref:
		s[*n - 1] = memory(a);
		return true;
	case DW_OP_and:
		s[--*n - 1] &= a;
		return true;
	case DW_OP_plus:
		s[--*n - 1] += a;
		return true;
	case DW_OP_shl:
		s[--*n - 1] <<= a;
		return true;
	case DW_OP_ge:
		--*n;
		s[*n - 1] = (int64_t)s[*n - 1] >= (int64_t)a;
		return true;
	}
	return false;
}

/* *ret_memory: the value is the address of the result. */
static bool evaluate(const Dwarf_Op *ops, size_t nr, const struct machine *m, uint64_t cfa,
		     uint64_t *ret_value, bool *ret_memory)
{
	uint64_t stack[RUNAWAY];
	int n = 0;

	*ret_memory = true;
	if (nr > RUNAWAY)
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (ops[i].atom == DW_OP_stack_value)
			*ret_memory = false;
		else if (!run_op(&ops[i], m, cfa, stack, &n))
			return false;
	}
	if (n < 1) /* an expression for a register starts with the CFA on the stack */
		return false;
	*ret_value = stack[n - 1];
	return true;
}

/* The register's value in the caller; false: undefined, or it cannot be evaluated here. */
static bool libdw_register(Dwarf_Frame *frame, int reg, const struct machine *m, uint64_t cfa,
			   uint64_t *ret_value, bool *ret_undefined)
{
	Dwarf_Op mem[3], *ops;
	bool in_memory;
	size_t nr;

	*ret_undefined = false;
	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return false;
	if (!nr) {
		*ret_undefined = ops == mem;
		*ret_value = m->r[reg];
		return !*ret_undefined;
	}
	if (nr == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg16) {
		*ret_value = m->r[ops[0].atom - DW_OP_reg0];
		return true;
	}
	if (nr == 1 && ops[0].atom == DW_OP_regx && ops[0].number <= IP) {
		*ret_value = m->r[ops[0].number];
		return true;
	}
	if (!evaluate(ops, nr, m, cfa, ret_value, &in_memory))
		return false;
	if (in_memory)
		*ret_value = memory(*ret_value);
	return true;
}

static struct caller by_libdw(struct file *f, uint64_t addr, const struct machine *m,
			      uint64_t *ret_start, uint64_t *ret_end)
{
	struct caller c = { .answer = NOTHING };
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start, end;
	bool undefined, signal, in_memory;
	Dwarf_Op *ops;
	size_t nr;

	if ((!f->eh || dwarf_cfi_addrframe(f->eh, addr, &frame)) &&
	    (!f->debug || dwarf_cfi_addrframe(f->debug, addr, &frame)))
		return c;
	if (dwarf_frame_info(frame, &start, &end, &signal) != IP)
		goto out;
	*ret_start = start;
	*ret_end = end;
	if (dwarf_frame_cfa(frame, &ops, &nr) || !evaluate(ops, nr, m, 0, &c.cfa, &in_memory))
		goto out;
	c.answer = FRAME;
	if (signal && c.cfa == memory(m->r[SP] + 160))
		c.answer = SIGNAL;
	if (!libdw_register(frame, IP, m, c.cfa, &c.ip, &undefined))
		c.answer = undefined ? END : NOTHING;
	c.bp_lost = !libdw_register(frame, BP, m, c.cfa, &c.bp, &undefined);
	c.bx_lost = !libdw_register(frame, BX, m, c.cfa, &c.bx, &undefined);
out:
	free(frame);
	return c;
}

/* ---- the table's answer ---------------------------------------------------------------------- */

static uint64_t saved(unsigned int how, int n, uint64_t reg, uint64_t cfa, uint64_t fp,
		      bool *ret_lost)
{
	*ret_lost = how == UNW_SAVED_LOST;
	if (how == UNW_SAVED_CFA)
		return memory(cfa + 8ll * n);
	if (how == UNW_SAVED_FP)
		return memory(fp + 8ll * n);
	return reg;
}

static struct caller by_simple(uint32_t rule, const struct machine *m)
{
	unsigned int bp = rule >> 4 & 15, bx = rule & 15;
	struct caller c = { .answer = FRAME };

	c.cfa = m->r[rule >> 18 & 1 ? BP : SP] + 8ull * (rule >> 8 & 0x3ff);
	c.ip = memory(c.cfa - 8);
	c.bp = bp ? memory(c.cfa - 8 * bp) : m->r[BP];
	c.bx = bx ? memory(c.cfa - 8 * bx) : m->r[BX];
	return c;
}

static struct caller by_rule(uint64_t r, const struct machine *m)
{
	uint64_t at = m->r[UNW_RULE_REG(r)] + UNW_RULE_OFF(r);
	struct caller c = { .answer = FRAME };

	switch (UNW_RULE_CFA(r)) {
	case UNW_CFA_REG:
		c.cfa = at;
		break;
	case UNW_CFA_DEREF:
		c.cfa = memory(at) + UNW_RULE_ADD(r);
		break;
	case UNW_CFA_PLT:
		c.cfa = at + ((int)(m->r[IP] & 15) >= UNW_RULE_ADD(r) ? 8 : 0);
		break;
	case UNW_CFA_RA_REG:
		c.cfa = at;
		break;
	case UNW_CFA_FORK: /* not in CFI; steps.c tests it */
		return (struct caller){ .answer = NOTHING };
	default:
		fail_msg("a rule that table.h does not define");
	}
	if (UNW_RULE_CFA(r) == UNW_CFA_RA_REG)
		c.ip = m->r[UNW_RULE_ADD(r)];
	else
		c.ip = memory(c.cfa - 8 * (UNW_RULE_RA_SLOT(r) ? UNW_RULE_RA_SLOT(r) : 1));
	c.bp = saved(UNW_RULE_FP_HOW(r), UNW_RULE_FP_N(r), m->r[BP], c.cfa, m->r[BP], &c.bp_lost);
	c.bx = saved(UNW_RULE_BX_HOW(r), UNW_RULE_BX_N(r), m->r[BX], c.cfa, m->r[BP], &c.bx_lost);
	return c;
}

static struct caller by_table(const struct unwind_table *t, uint64_t off, const struct machine *m)
{
	static const enum answer escapes[] = { NOTHING, END, SIGNAL };
	uint32_t rule = unwind__find(t, off), escape = rule & (UNW_ESCAPE - 1);
	uint64_t r;

	if (!(rule & UNW_ESCAPE))
		return by_simple(rule, m);
	if (escape <= UNW_SIGNAL)
		return (struct caller){ .answer = escapes[escape] };
	assert_in_range(escape, UNW_ESCAPE_RULES, UNW_ESCAPE_RULES + t->nr_rules - 1);
	memcpy(&r, t->words + t->rules + (escape - UNW_ESCAPE_RULES) * 2, sizeof(r));
	return by_rule(r, m);
}

/* ---- one place ------------------------------------------------------------------------------- */

static bool address_of(Elf *elf, uint64_t off, uint64_t *ret_addr)
{
	GElf_Phdr p;

	for (int i = 0; gelf_getphdr(elf, i, &p); i++) {
		if (p.p_type == PT_LOAD && p.p_flags & PF_X && off - p.p_offset < p.p_filesz) {
			*ret_addr = off - p.p_offset + p.p_vaddr;
			return true;
		}
	}
	return false;
}

static bool is_go(const struct file *f)
{
	return f->table->sources & UNWIND_GOPCLNTAB;
}

/* Code shorter than the alignment, between a function and an aligned one. */
static bool is_padding(struct file *f, uint64_t addr, const struct machine *m)
{
	uint64_t align = is_go(f) ? 32 : 16, next = (addr | (align - 1)) + 1, start, end;

	if (!by_libdw(f, next, m, &start, &end).answer && next != f->entry)
		return false;
	for (uint64_t a = addr; a > addr - align; a--) {
		if (by_libdw(f, a - 1, m, &start, &end).answer)
			return next - a < align;
	}
	return false;
}

static void show(const struct caller *c, const char *whose)
{
	static const char *const answers[] = { "nothing", "end", "signal", "frame" };

	print_message("  %-6s %-7s cfa %016llx ip %016llx bp %016llx%s bx %016llx%s\n", whose,
		      answers[c->answer], (unsigned long long)c->cfa, (unsigned long long)c->ip,
		      (unsigned long long)c->bp, c->bp_lost ? " lost" : "",
		      (unsigned long long)c->bx, c->bx_lost ? " lost" : "");
}

static bool equal(const struct caller *t, const struct caller *d, bool go)
{
	if (t->answer != d->answer || t->answer != FRAME)
		return t->answer == d->answer;
	if (t->cfa != d->cfa || t->ip != d->ip)
		return false;
	/* Go's CFI does not give the place of the frame pointer */
	return go || ((t->bp_lost || t->bp == d->bp) && (t->bx_lost || t->bx == d->bx));
}

static void compare(struct file *f, uint64_t off, uint64_t *ret_start, uint64_t *ret_end)
{
	struct caller t, d;
	struct machine m;
	uint64_t addr;

	*ret_start = *ret_end = 0;
	if (!address_of(f->elf, off, &addr))
		return;
	for (int i = 0; i < IP; i++)
		m.r[i] = next_random();
	m.r[IP] = addr;
	t = by_table(f->table, off, &m);
	d = by_libdw(f, addr, &m, ret_start, ret_end);
	f->nr_compared += t.answer || d.answer;
	if (!t.answer && d.answer) {
		f->nr_unknown++;
		if (f->verbose)
			print_message("%s: no rule at 0x%llx\n", f->name, (unsigned long long)addr);
	} else if (t.answer && !d.answer && is_padding(f, addr, &m)) {
		f->nr_padding++;
	} else if ((t.answer == END || t.answer == SIGNAL) &&
		   (is_go(f) || f->table->sources & UNWIND_SYNTHESISED)) {
		f->nr_ends++; /* neither Go's CFI nor code at the entry point marks the end */
	} else if (!equal(&t, &d, is_go(f)) && f->nr_wrong++ < WRONG_SHOWN) {
		print_message("%s: 0x%llx\n", f->name, (unsigned long long)addr);
		show(&t, "table");
		show(&d, "libdw");
	}
	f->nr_lost += t.answer == FRAME && ((t.bp_lost && !d.bp_lost) || (t.bx_lost && !d.bx_lost));
}

/* Compares at a place, and around libdw's row that contains it. */
static void compare_around(struct file *f, uint64_t off)
{
	uint64_t start, end, ignored, addr;

	compare(f, off, &start, &end);
	if (!end || !address_of(f->elf, off, &addr))
		return;
	compare(f, off - (addr - start), &ignored, &ignored);
	compare(f, off - (addr - start) - 1, &ignored, &ignored);
	compare(f, off + (end - addr) - 1, &ignored, &ignored);
	compare(f, off + (end - addr), &ignored, &ignored);
}

static void compare_boundaries(struct file *f)
{
	const struct unwind_table *t = f->table;
	uint64_t step = t->nr_rows / MAX_BOUNDARIES + 1, i = 0, ignored, off;

	for (uint32_t p = 0; p < t->nr_pages; p++) {
		uint64_t entry = ((const uint64_t *)t->words)[p];

		assert_int_equal(UNW_ROW_OFF(t->words[(uint32_t)entry]), 0);
		for (uint32_t n = 0; n < entry >> 32; n++) {
			if (i++ % step)
				continue;
			off = (uint64_t)(t->first_page + p) << UNW_PAGE_SHIFT |
			      UNW_ROW_OFF(t->words[(uint32_t)entry + n]);
			compare(f, off, &ignored, &ignored);
			compare(f, off - 1, &ignored, &ignored);
		}
	}
}

/* ---- a file ---------------------------------------------------------------------------------- */

static bool open_file(struct file *f, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	GElf_Ehdr ehdr;

	*f = (struct file){ .name = name, .verbose = getenv("VERBOSE") };
	if (fd < 0)
		return false;
	assert_int_equal(unwind__from_fd(fd, &f->table), 0);
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	assert_non_null(f->elf);
	assert_non_null(gelf_getehdr(f->elf, &ehdr));
	f->entry = ehdr.e_entry;
	f->eh = dwarf_getcfi_elf(f->elf);
	f->dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	f->debug = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
	return true;
}

static void close_file(struct file *f)
{
	if (f->eh)
		dwarf_cfi_end(f->eh);
	if (f->dwarf)
		dwarf_end(f->dwarf);
	elf_end(f->elf);
	unwind__free(f->table);
}

static void compare_file(struct file *f)
{
	uint64_t first = (uint64_t)f->table->first_page << UNW_PAGE_SHIFT;
	uint64_t len = (uint64_t)f->table->nr_pages << UNW_PAGE_SHIFT;

	compare_boundaries(f);
	for (int i = 0; i < RANDOM_PLACES / 5; i++)
		compare_around(f, first + next_random() % len);
	print_message("%s: %llu compared, %llu wrong; %llu unknown, %llu with a register lost, "
		      "%llu padding, %llu ends\n",
		      f->name, (unsigned long long)f->nr_compared, (unsigned long long)f->nr_wrong,
		      (unsigned long long)f->nr_unknown, (unsigned long long)f->nr_lost,
		      (unsigned long long)f->nr_padding, (unsigned long long)f->nr_ends);
}

static void same_as_libdw(void **state)
{
	uint64_t compared = 0, wrong = 0, unknown = 0;
	struct file f;

	elf_version(EV_CURRENT);
	for (int i = 0; i < nr_files; i++) {
		if (!open_file(&f, files[i])) {
			print_message("%s: not found\n", files[i]);
			continue;
		}
		compare_file(&f);
		compared += f.nr_compared;
		wrong += f.nr_wrong;
		/* Go's functions that switch stacks are left uncovered on purpose */
		unknown += is_go(&f) ? f.nr_unknown / 10 : f.nr_unknown;
		close_file(&f);
	}
	assert_int_equal(wrong, 0);
	assert_true(compared >= MIN_COMPARED);
	assert_true(unknown <= compared / MAX_UNKNOWN);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(same_as_libdw) };

	files = argv + 1;
	nr_files = argc - 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
