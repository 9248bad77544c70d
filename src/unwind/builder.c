// SPDX-License-Identifier: GPL-2.0-only
/* Lays out rows and pages of a table as they come. */
#include "builder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define NONE (UNW_ESCAPE | UNW_NONE)
#define FUNCTION_ALIGN 16

/* Makes room for n more words. */
static bool grow(struct unw_builder *b, uint32_t n)
{
	if (!b->err && ((uint64_t)b->nr + n > UNWIND_MAX_ROWS ||
			array__reserve(&b->words, b->nr + n, &b->size)))
		b->err = -ENOMEM;
	return !b->err;
}

int unw_builder__init(struct unw_builder *b, uint64_t first, uint64_t end)
{
	*b = (struct unw_builder){
		.first_page = (uint32_t)(first >> UNW_PAGE_SHIFT),
		.nr_pages =
			(uint32_t)(((end - 1) >> UNW_PAGE_SHIFT) - (first >> UNW_PAGE_SHIFT)) + 1,
		.rule = NONE,
		.next_rule = NONE,
		.end = first,
		.next_off = first,
	};
	b->page = b->nr_pages;
	if (grow(b, b->nr_pages * 2))
		b->nr = b->nr_pages * 2;
	return b->err;
}

void unw_builder__free(struct unw_builder *b)
{
	free(b->words);
	*b = (struct unw_builder){ 0 };
}

static uint64_t *page_word(struct unw_builder *b, uint32_t page)
{
	return (uint64_t *)b->words + page;
}

/* A page of one row that equals its neighbour's shares that row. */
static bool same_as_last(struct unw_builder *b)
{
	uint64_t last;

	if (!b->page || b->nr - b->page_start != 1)
		return false;
	last = *page_word(b, b->page - 1);
	if (last >> 32 != 1 || b->words[(uint32_t)last] != b->words[b->page_start])
		return false;
	*page_word(b, b->page) = last;
	b->nr--;
	return true;
}

static void close_page(struct unw_builder *b)
{
	uint32_t n = b->nr - b->page_start, to = b->page_start;

	if (same_as_last(b))
		return;
	if (to / UNW_CHUNK_WORDS != (b->nr - 1) / UNW_CHUNK_WORDS) {
		to += UNW_CHUNK_WORDS - to % UNW_CHUNK_WORDS;
		if (!grow(b, to - b->page_start))
			return;
		memmove(b->words + to, b->words + b->page_start, n * sizeof(*b->words));
		memset(b->words + b->page_start, 0, (to - b->page_start) * sizeof(*b->words));
		b->nr = to + n;
	}
	*page_word(b, b->page) = (uint64_t)n << 32 | to;
	b->nr_rows += n;
}

/* Starts the next page; the current rule continues. */
static void open_page(struct unw_builder *b)
{
	if (b->page != b->nr_pages)
		close_page(b);
	b->page = b->page == b->nr_pages ? 0 : b->page + 1;
	b->page_start = b->nr;
	if (grow(b, 1))
		b->words[b->nr++] = UNW_ROW(0, b->rule);
}

static void write_row(struct unw_builder *b)
{
	uint32_t page = (uint32_t)(b->next_off >> UNW_PAGE_SHIFT) - b->first_page;
	uint32_t off = b->next_off & ((1 << UNW_PAGE_SHIFT) - 1);

	if (b->next_rule == b->rule || page >= b->nr_pages)
		return;
	while (!b->err && (b->page == b->nr_pages || b->page < page))
		open_page(b);
	if (!grow(b, 1))
		return;
	if (off)
		b->words[b->nr++] = UNW_ROW(off, b->next_rule);
	else
		b->words[b->nr - 1] = UNW_ROW(0, b->next_rule);
	b->rule = b->next_rule;
}

static void put(struct unw_builder *b, uint64_t off, uint32_t rule)
{
	if (off != b->next_off)
		write_row(b);
	b->next_off = off;
	b->next_rule = rule;
}

/*
 * Gaps between aligned functions that are smaller than the alignment contain only padding, which is
 * never executed.  A row for it would need a second one for the next function, which mostly
 * continues with the rule from before the padding.
 */
static bool is_padding(uint64_t from, uint64_t to)
{
	return to - from < FUNCTION_ALIGN && to % FUNCTION_ALIGN == 0;
}

void unw_builder__range(struct unw_builder *b, uint64_t start, uint64_t end)
{
	if (b->started && start != b->end && !is_padding(b->end, start))
		put(b, b->end, NONE);
	put(b, start, NONE);
	b->started = true;
	b->end = end;
}

void unw_builder__row(struct unw_builder *b, uint64_t off, uint32_t rule)
{
	if (off >= b->next_off && off < b->end)
		put(b, off, rule);
}

static void finish_pages(struct unw_builder *b)
{
	put(b, b->end, NONE);
	write_row(b);
	while (!b->err && (b->page == b->nr_pages || b->page < b->nr_pages - 1))
		open_page(b);
	if (!b->err)
		close_page(b);
}

int unw_builder__finish(struct unw_builder *b, const struct unw_rules *rules,
			struct unwind_table *ret_table)
{
	uint32_t *words;

	finish_pages(b);
	if (b->nr % 2 && grow(b, 1))
		b->words[b->nr++] = 0;
	if (!grow(b, rules->nr * 2))
		return b->err;
	ret_table->rules = b->nr;
	ret_table->nr_rules = rules->nr;
	if (rules->nr)
		memcpy(b->words + b->nr, rules->v, rules->nr * sizeof(*rules->v));
	b->nr += rules->nr * 2;
	words = realloc(b->words, b->nr * sizeof(*words));
	ret_table->words = words ? words : b->words;
	ret_table->nr_words = b->nr;
	ret_table->first_page = b->first_page;
	ret_table->nr_pages = b->nr_pages;
	ret_table->nr_rows = b->nr_rows;
	b->words = NULL;
	return 0;
}
