// SPDX-License-Identifier: GPL-2.0-only
/* Writes options back as a user would give them. */
#include "view_text.h"

#include <inttypes.h>
#include <string.h>

#include "clock.h"
#include "strbuf.h"
#include "ui/pairs/pair_kinds.h"
#include "ui/reading.h"
#include "ui/selection.h"

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

void view_text__put_word(struct strbuf *b, const char *word)
{
	strbuf__putc(b, ' ');
	if (*word && !word[strspn(word, PLAIN)]) {
		strbuf__puts(b, word);
		return;
	}
	strbuf__putc(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			strbuf__puts(b, "'\\''");
		else
			strbuf__putc(b, *word);
	}
	strbuf__putc(b, '\'');
}

static void put_option(struct strbuf *b, const char *option, const char *value)
{
	if (!value)
		return;
	strbuf__printf(b, " %s", option);
	view_text__put_word(b, value);
}

static void put_set(struct strbuf *b, const char *option, const struct num_set *set)
{
	unsigned int i;

	for (i = 0; i < set->nr; i++) {
		if (i)
			strbuf__putc(b, ',');
		else
			strbuf__printf(b, " %s ", option);
		strbuf__printf(b, "%" PRIu64, set->ranges[i].first);
		if (set->ranges[i].last != set->ranges[i].first)
			strbuf__printf(b, "-%" PRIu64, set->ranges[i].last);
	}
}

static void put_end(struct strbuf *b, const struct time_end *end, uint64_t ns)
{
	if (end->kind != TIME_OPEN)
		strbuf__printf(b, "%" PRIu64 ".%09" PRIu64, (uint64_t)(ns / SECOND_NS),
			       (uint64_t)(ns % SECOND_NS));
}

void view_text__put_selection(struct strbuf *b, const struct selection *sel, bool has_times)
{
	unsigned int i;

	for (i = 0; i < sel->nr_times && has_times; i++) {
		const struct time_span *t = &sel->times[i];

		strbuf__puts(b, " --time ");
		put_end(b, &t->ends[0], t->from);
		strbuf__putc(b, ',');
		put_end(b, &t->ends[1], t->to);
	}
	for (i = 0; i < sel->nr_choices; i++) {
		put_option(b, "-e", sel->choices[i].globs);
		put_option(b, "--filter", sel->choices[i].filter);
	}
	put_set(b, "--pid", &sel->pid);
	put_set(b, "--tid", &sel->tid);
	for (i = 0; i < sel->nr_comms; i++)
		put_option(b, "--comm", sel->comms[i]);
	put_set(b, "--cpu", &sel->cpu);
}

void view_text__put_names(struct strbuf *b, const struct user_names *names)
{
	unsigned int i;

	put_option(b, "--sysroot", names->sysroot);
	for (i = 0; i < names->nr_debug_dirs; i++)
		put_option(b, "--debug-dir", names->debug_dirs[i]);
	if (names->debuginfod)
		strbuf__puts(b, " --debuginfod");
	if (names->no_demangle)
		strbuf__puts(b, " --no-demangle");
}

void view_text__put_pairs(struct strbuf *b, const struct pair_kinds *pairs)
{
	put_option(b, "--pairs", pairs->presets);
	put_option(b, "--start", pairs->own.start);
	put_option(b, "--end", pairs->own.end);
	put_option(b, "--match", pairs->own.match);
	put_option(b, "--start-if", pairs->own.start_if);
	if (pairs->own.single)
		strbuf__puts(b, " --single");
}
