// SPDX-License-Identifier: GPL-2.0-only
/* Finds frames of code that has no tables, by what its instructions do. */
#include "bare_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch_code.h"
#include "arch_regs.h"
#include "array.h"
#include "cleanup.h"
#include "flow.h"

#define MAX_WORK (16u << 20) /* bytes of code, counted each time; musl's libc takes 3 MiB */
#define FUNCTION_WORK 64 /* cost of a function in bytes, in addition to its length */
#define CODE_LEN 16 /* enough to recognise a function by its first instructions */

/* ---- detecting a libc ------------------------------------------------------------------------ */

static bool needs_library(const struct unw_elf *elf)
{
	const Elf64_Phdr *ph = unw_elf__phdr(elf, PT_DYNAMIC);
	struct unw_bytes b;
	bool needs = false;
	Elf64_Dyn d;

	if (!ph || unw_elf__read_vaddr(elf, ph->p_vaddr, ph->p_filesz, &b))
		return false;
	for (size_t at = 0; b.len - at >= sizeof(d) && !needs; at += sizeof(d)) {
		memcpy(&d, b.p + at, sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		needs = d.d_tag == DT_NEEDED;
	}
	unw_bytes__drop(&b);
	return needs;
}

struct symbols {
	struct unw_bytes syms, names;
};

static int read_symbols(const struct unw_elf *elf, struct symbols *ret_symbols)
{
	const Elf64_Shdr *s = elf_file__section_of_type(&elf->file, SHT_SYMTAB);
	int err;

	if (!s)
		s = elf_file__section_of_type(&elf->file, SHT_DYNSYM);
	if (!s || s->sh_link >= elf->file.nr_shdrs)
		return -ENOENT;
	err = unw_elf__read(elf, s->sh_offset, s->sh_size, &ret_symbols->syms);
	if (!err) {
		s = &elf->file.shdrs[s->sh_link];
		err = unw_elf__read(elf, s->sh_offset, s->sh_size, &ret_symbols->names);
		if (err)
			unw_bytes__drop(&ret_symbols->syms);
	}
	return err == -ERANGE ? -ENOENT : err;
}

static void drop_symbols(struct symbols *s)
{
	unw_bytes__drop(&s->syms);
	unw_bytes__drop(&s->names);
}

/* Finds the next defined function. */
static bool next_function(const struct symbols *s, size_t *at, Elf64_Sym *ret_sym)
{
	while (s->syms.len - *at >= sizeof(*ret_sym)) {
		memcpy(ret_sym, s->syms.p + *at, sizeof(*ret_sym));
		*at += sizeof(*ret_sym);
		if (ELF64_ST_TYPE(ret_sym->st_info) == STT_FUNC && ret_sym->st_shndx != SHN_UNDEF &&
		    ret_sym->st_value)
			return true;
	}
	return false;
}

static bool find_function(const struct symbols *s, const char *name, uint64_t *ret_addr)
{
	size_t len = strlen(name) + 1, at = 0;
	Elf64_Sym sym;

	while (next_function(s, &at, &sym)) {
		if (sym.st_name < s->names.len && s->names.len - sym.st_name >= len &&
		    !memcmp(s->names.p + sym.st_name, name, len)) {
			*ret_addr = sym.st_value;
			return true;
		}
	}
	return false;
}

/* ---- its functions --------------------------------------------------------------------------- */

static bool is_claimed(const struct unw_bare *bare, uint64_t addr)
{
	uint64_t i = addr - bare->code;

	return bare->claimed[i / 8] & 1 << i % 8;
}

static void claim(struct unw_bare *bare, uint64_t addr)
{
	uint64_t i = addr - bare->code;

	bare->claimed[i / 8] |= (uint8_t)(1 << i % 8);
}

static void add_address(struct unw_bare *bare, struct unw_addresses *a, uint64_t addr)
{
	if (bare->err || addr - bare->code >= bare->code_len || is_claimed(bare, addr))
		return;
	if (array__grow(&a->v, a->nr, &a->size))
		bare->err = -ENOMEM;
	else
		a->v[a->nr++] = addr;
}

static void add_function(struct unw_bare *bare, const struct unw_bare_func *f)
{
	if (array__grow(&bare->v, bare->nr, &bare->size))
		bare->err = -ENOMEM;
	else
		bare->v[bare->nr++] = *f;
}

/* Adds a function of libc, of len bytes; 0: unknown.  No other function starts inside it. */
static void add_libc_function(struct unw_bare *bare, uint64_t start, uint64_t len)
{
	bool sized = len && len <= MIN(bare->code + bare->code_len - start, FLOW_MAX_LEN);

	bare->work += sized ? len : 1;
	if (bare->work > MAX_WORK)
		bare->err = -ENOENT;
	for (uint64_t i = 0; i < (sized ? len : 1); i++)
		claim(bare, start + i);
	add_function(bare, &(struct unw_bare_func){
				   .start = start,
				   .len = sized ? (uint32_t)len : 1,
				   .sized = sized,
			   });
}

struct scan {
	struct unw_bare *bare;
	uint64_t start;
};

static void on_target(void *ctx, int64_t offset, bool is_address)
{
	const struct scan *f = ctx;
	struct unw_bare *bare = f->bare;

	add_address(bare, is_address ? &bare->pointed : &bare->called, f->start + (uint64_t)offset);
}

/* Follows the function's code and collects the addresses that it calls or takes. */
static int follow(struct unw_bare *bare, const struct unw_bare_func *f)
{
	struct scan ctx = { bare, f->start };
	struct unw_bytes code;
	int err;

	bare->work += f->len + FUNCTION_WORK;
	if (bare->work > MAX_WORK)
		return -ENOENT;
	err = flow__reserve(bare->flow, f->len);
	if (!err)
		err = unw_elf__read_vaddr(bare->elf, f->start, f->len, &code);
	if (err)
		return err;
	flow__run(bare->flow, code.p, code.len, FLOW_WHOLE, on_target, &ctx);
	unw_bytes__drop(&code);
	return bare->err;
}

/* Calls come first: they are better evidence than addresses taken, which may be labels. */
static uint32_t add_found(struct unw_bare *bare, struct unw_addresses *a)
{
	uint32_t was = bare->nr;

	while (a->nr && !bare->err) {
		uint64_t addr = a->v[--a->nr];

		if (!is_claimed(bare, addr) && !bare->covered(bare->ctx, addr))
			add_libc_function(bare, addr, 0);
	}
	return bare->nr - was;
}

static bool add_relocated(void *ctx, uint64_t vaddr, uint64_t value)
{
	struct unw_bare *bare = ctx;

	add_address(bare, &bare->pointed, value);
	return bare->err;
}

static void add_symbols(struct unw_bare *bare, const struct symbols *s)
{
	Elf64_Sym sym;
	size_t at = 0;

	while (!bare->err && next_function(s, &at, &sym)) {
		if (sym.st_value - bare->code < bare->code_len &&
		    !bare->covered(bare->ctx, sym.st_value))
			add_libc_function(bare, sym.st_value, sym.st_size);
	}
}

static int compare(const void *a, const void *b)
{
	const struct unw_bare_func *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->is_entry != y->is_entry)
		return y->is_entry - x->is_entry;
	return (x->len < y->len) - (x->len > y->len);
}

/* Sorts, removes functions at or inside others, extends unknown lengths to the next function. */
static void sort_functions(struct unw_bare *bare)
{
	uint64_t end = bare->code + bare->code_len;
	uint32_t n = 0;

	qsort(bare->v, bare->nr, sizeof(*bare->v), compare);
	for (uint32_t i = 0; i < bare->nr; i++) {
		const struct unw_bare_func *last = n ? &bare->v[n - 1] : NULL;

		if (!last || bare->v[i].start >= last->start + (last->sized ? last->len : 1))
			bare->v[n++] = bare->v[i];
	}
	bare->nr = n;
	while (n--) {
		struct unw_bare_func *f = &bare->v[n];

		if (!f->sized)
			f->len = (uint32_t)MIN(end - f->start, FLOW_MAX_LEN);
		end = f->start;
	}
}

/* Follows all functions and those that they lead to, until there are no new ones. */
static int follow_all(struct unw_bare *bare)
{
	int err = bare->err;

	for (bool all = true; !err; all = false) {
		sort_functions(bare);
		for (uint32_t i = 0; i < bare->nr && !err; i++) {
			if (all || !bare->v[i].sized)
				err = follow(bare, &bare->v[i]);
		}
		if (err || (!add_found(bare, &bare->called) && !add_found(bare, &bare->pointed)))
			break;
		err = bare->err;
	}
	return err;
}

static void mark_sigreturn(struct unw_bare *bare, struct unw_bare_func *f)
{
	struct unw_bytes b;

	if (unw_elf__read_vaddr(bare->elf, f->start, CODE_LEN, &b))
		return;
	f->is_sigreturn = arch_code__is_sigreturn(b.p, b.len);
	f->start -= f->is_sigreturn;
	f->len += f->is_sigreturn;
	unw_bytes__drop(&b);
}

static int find_functions(struct unw_bare *bare, const struct symbols *s)
{
	int err;

	bare->claimed = calloc(bare->code_len / 8 + 1, 1);
	bare->flow = flow__new();
	if (!bare->claimed || !bare->flow)
		return -ENOMEM;
	add_symbols(bare, s);
	add_address(bare, &bare->called, bare->elf->file.ehdr.e_entry);
	unw_elf__each_relocation(bare->elf, add_relocated, bare);
	err = follow_all(bare);
	free(bare->claimed);
	bare->claimed = NULL;
	if (err)
		bare->nr = 0; /* not a libc, or too much code for one */
	return err == -ERANGE ? -ENOENT : err;
}

/* Finds the section of addr; outside of sections an executable segment may contain data. */
static bool find_code(struct unw_bare *bare, uint64_t addr)
{
	const struct elf_file *file = &bare->elf->file;

	for (unsigned int i = 0; i < file->nr_shdrs; i++) {
		const Elf64_Shdr *s = &file->shdrs[i];

		if (s->sh_type == SHT_PROGBITS && s->sh_flags & SHF_EXECINSTR &&
		    addr - s->sh_addr < s->sh_size && s->sh_size <= UNW_MAX_BYTES) {
			bare->code = s->sh_addr;
			bare->code_len = s->sh_size;
			return true;
		}
	}
	return false;
}

static int find_libc(struct unw_bare *bare)
{
	struct symbols s;
	uint64_t start;
	int err;

	if (unw_elf__phdr(bare->elf, PT_INTERP) || needs_library(bare->elf))
		return -ENOENT;
	err = read_symbols(bare->elf, &s);
	if (err)
		return err;
	err = -ENOENT;
	if (find_function(&s, "__libc_start_main", &start) && !bare->covered(bare->ctx, start) &&
	    find_code(bare, start))
		err = find_functions(bare, &s);
	drop_symbols(&s);
	return err;
}

static void add_entry(struct unw_bare *bare)
{
	uint64_t entry = bare->elf->file.ehdr.e_entry;
	const struct unw_segment *s = unw_elf__code(bare->elf, entry);
	struct unw_bytes code;
	bool is;

	/* the entry of a library is just the first address of its code */
	if (!s || bare->covered(bare->ctx, entry) ||
	    unw_elf__read_vaddr(bare->elf, entry, CODE_LEN, &code))
		return;
	is = arch_code__is_entry(code.p, code.len);
	unw_bytes__drop(&code);
	if (!is)
		return;
	if (!bare->flow)
		bare->flow = flow__new();
	if (!bare->flow)
		bare->err = -ENOMEM;
	if (!bare->nr) {
		bare->code = entry;
		bare->code_len = s->vaddr + s->size - entry;
	}
	add_function(bare, &(struct unw_bare_func){ .start = entry, .len = 1, .is_entry = true });
}

int unw_bare__open(const struct unw_elf *elf, unw_covered_fn covered, void *ctx,
		   struct unw_bare *ret_bare)
{
	int err;

	*ret_bare = (struct unw_bare){ .elf = elf, .covered = covered, .ctx = ctx };
	err = find_libc(ret_bare);
	if (err && err != -ENOENT)
		return err;
	add_entry(ret_bare);
	if (ret_bare->err)
		return ret_bare->err;
	if (!ret_bare->nr)
		return -ENOENT;
	sort_functions(ret_bare);
	for (uint32_t i = 0; i < ret_bare->nr; i++)
		mark_sigreturn(ret_bare, &ret_bare->v[i]);
	return 0;
}

void unw_bare__close(struct unw_bare *bare)
{
	flow__free(bare->flow);
	free(bare->v);
	free(bare->claimed);
	free(bare->called.v);
	free(bare->pointed.v);
	*bare = (struct unw_bare){ 0 };
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int put_rows(struct unw_bare *bare, const struct unw_bytes *code, uint64_t start,
		    struct unw_rules *rules, struct unw_builder *b, uint64_t *unknown)
{
	size_t at = 0, len, end = 0, forked = 0;
	struct unw_state state;
	uint32_t rule;
	int err;

	for (; flow__next(bare->flow, at, &at, &state, &len); at++) {
		if (at < forked && state.cfa == UNW_CFA_REG && state.cfa_reg == UNW_REG_SP)
			state.cfa = UNW_CFA_FORK;
		if (arch_code__clone_len(code->p + at, code->len - at))
			forked = at + len + arch_code__clone_len(code->p + at, code->len - at);
		err = unw_rules__encode(rules, &state, &rule);
		if (err)
			return err;
		*unknown += rule == (UNW_ESCAPE | UNW_NONE);
		if (at > end && !arch_code__is_padding(code->p + end, at - end))
			unw_builder__row(b, start + end, UNW_ESCAPE | UNW_NONE);
		unw_builder__row(b, start + at, rule);
		end = at + len;
	}
	unw_builder__row(b, start + end, UNW_ESCAPE | UNW_NONE);
	return 0;
}

int unw_bare__run(struct unw_bare *bare, uint32_t i, uint64_t delta, struct unw_rules *rules,
		  struct unw_builder *b, uint64_t *unknown)
{
	const struct unw_bare_func *f = &bare->v[i];
	struct unw_bytes code;
	int err;

	if (f->is_sigreturn) {
		unw_builder__row(b, f->start + delta, UNW_ESCAPE | UNW_SIGNAL);
		return 0;
	}
	err = flow__reserve(bare->flow, f->len);
	if (!err)
		err = unw_elf__read_vaddr(bare->elf, f->start, f->len, &code);
	if (err)
		return err == -ERANGE ? 0 : err;
	if (flow__run(bare->flow, code.p, code.len, f->is_entry ? FLOW_OUTERMOST : FLOW_WHOLE, NULL,
		      NULL) ||
	    (!f->is_entry && flow__run(bare->flow, code.p, code.len, 0, NULL, NULL)))
		err = put_rows(bare, &code, f->start + delta, rules, b, unknown);
	else
		++*unknown;
	unw_bytes__drop(&code);
	return err;
}
