/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User memory without a helper.  A call of bpf_probe_read_user() costs 120 ns, however few bytes it
 * reads, because the processor has to allow and forbid access to user memory.  But all memory is
 * mapped for the kernel itself, too (Documentation/arch/x86/x86_64/mm.rst, "direct mapping"), and
 * the task's page tables say where in it a page is: that takes a load for each level.
 *
 * Page tables may change at any time, and a page or a table may be freed and used for something
 * else in the middle.  So what is read here is only good for a comparison with words of which it is
 * known what they must be.  It never leads to an address outside of the memory, and an address
 * where nothing is mapped reads as 0.
 *
 * Where the mapping is, no file says.  The recorder finds it by a page of its own, see
 * src/record/bpf/user_pages.h.
 */
#ifndef USER_PAGE_BPF_H
#define USER_PAGE_BPF_H

#include "user_area.bpf.h"

/* Set before arming. */
struct wire_pages user_pages = {};
struct wire_page_search page_search = {};

/* An entry of a page table: Intel SDM volume 3, "4-Level Paging and 5-Level Paging". */
#define PAGE_PRESENT (1 << 0)
#define PAGE_USER (1 << 2)
#define PAGE_HUGE (1 << 7)
#define PAGE_AT 0x000ffffffffff000ull /* physical address */
#define PAGE_HUGE_BYTES (2ull << 20)

static __always_inline u64 page_tables(u64 mm)
{
	return area_word((void *)(mm + bpf_core_field_offset(struct mm_struct, pgd)));
}

/*
 * An entry of a table; 0: absent, or not in memory.  Where there is no table, which is at 0 then,
 * there is no entry either: nothing is read below the kernel's addresses.
 */
static __always_inline u64 page_entry(const struct wire_pages *p, u64 table, u64 addr, u32 shift)
{
	u64 e = area_word((void *)(table + (addr >> shift & 511) * 8));
	u64 inside = ((e & PAGE_AT) - p->end) >> 63;

	return e & -(e & inside & PAGE_PRESENT);
}

/* Where the kernel has the page or table of an entry; 0 for 0. */
static __always_inline u64 page_mapped(const struct wire_pages *p, u64 entry)
{
	return (p->base + (entry & PAGE_AT)) & -(entry & PAGE_PRESENT);
}

/* Where the kernel has the page of a user address; 0: it is not in memory, or unknown. */
static __always_inline u64 page_find(const struct wire_pages *p, u64 tables, u64 addr)
{
	u64 e, at = tables;

	if (p->levels == 5)
		at = page_mapped(p, page_entry(p, at, addr, 48));
	at = page_mapped(p, page_entry(p, at, addr, 39));
	at = page_mapped(p, page_entry(p, at, addr, 30));
	e = page_entry(p, at, addr, 21);
	at = page_mapped(p, e);
	if (e & PAGE_HUGE)
		return (at & -PAGE_HUGE_BYTES) + (addr & (PAGE_HUGE_BYTES - 4096));
	e = page_entry(p, at, addr, 12);
	return e & PAGE_USER ? page_mapped(p, e) : 0;
}

/* Whether the words that are searched for are found with the mapping at this place. */
static __always_inline bool page_try(const struct wire_pages *p, u64 tables)
{
	u64 page = page_find(p, tables, page_search.addr), differ = !page;
	u32 i;

	page += page_search.addr & 4095;
#pragma clang loop unroll(full)
	for (i = 0; i < WIRE_PAGE_WORDS; i++)
		differ |= area_word((void *)(page + i * 8)) ^ page_search.word[i];
	return !differ;
}

/* Tries one place; the mapping begins at a multiple of 1 GiB, and the task's tables lie in it. */
static __always_inline void page_search_on(const struct task_struct *task)
{
	struct wire_pages p = { .end = page_search.end };
	u64 tables;
	u32 i;

	if (!bpf_rdonly_cast)
		return;
	tables = page_tables((u64)task_plain(task)->mm);
	p.base = ((tables >> 30) - page_search.below) << 30;
#pragma clang loop unroll(disable)
	for (i = 4; i <= 5; i++) {
		p.levels = i;
		if (page_try(&p, tables)) {
			user_pages = p;
			return;
		}
	}
}

#endif /* USER_PAGE_BPF_H */
