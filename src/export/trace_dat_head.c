// SPDX-License-Identifier: GPL-2.0-only
/* The head of a trace.dat file. */
#include "trace_dat_head.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "seeded_hash.h"
#include "trace_entry.h"

#define MAGIC "\x17\x08\x44tracing"
#define KEYWORD_SIZE 10 /* "options  ", "flyrecord", with their NUL */

/* Options of trace-cmd's include/private/trace-cmd-private.h. */
enum {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_TRACECLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_CPUCOUNT = 8,
	OPTION_VERSION = 9,
};

/* ---- tasks ----------------------------------------------------------------------------------- */

static int add_task(struct trace_dat_tasks *t, struct stk_reader *r, uint64_t hash, uint32_t tid)
{
	uint64_t memory;
	int err;

	if (array__grow(&t->v, t->nr, &t->max) || index__add(&t->index, hash, t->nr))
		return -ENOMEM;
	memory = t->max * sizeof(*t->v) + index__memory(&t->index);
	err = stk_reader__charge(r, (int64_t)(memory - t->memory), 1);
	if (err)
		return err;
	t->memory = memory;
	t->v[t->nr++] = (struct trace_dat_task){ .tid = tid };
	return 0;
}

int trace_dat_tasks__add(struct trace_dat_tasks *t, struct stk_reader *r, const struct stk_event *e)
{
	uint32_t i, tid = stk_event__tid(e);
	uint64_t hash;
	int err;

	t->seed = t->seed ?: seeded_hash__seed();
	hash = seeded_hash__u64(t->seed, t->seed, tid);
	index__for_each(&t->index, hash, i)
		if (t->v[i].tid == tid)
			break;
	if (i == INDEX_NONE) {
		err = add_task(t, r, hash, tid);
		if (err)
			return err;
		i = t->nr - 1;
	}
	t->v[i].comm = stk_event__comm(e);
	return 0;
}

void trace_dat_tasks__clear(struct trace_dat_tasks *t, struct stk_reader *r)
{
	if (t->memory)
		stk_reader__charge(r, -(int64_t)t->memory, 0);
	free(t->v);
	index__free(&t->index);
}

/* As in tracefs' saved_cmdlines.  Readers skip blanks ahead of a name, and need one. */
static void put_tasks(struct strbuf *b, const struct trace_dat_tasks *t)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	const char *comm;
	uint32_t i;

	for (i = 0; i < t->nr; i++) {
		comm = t->v[i].comm;
		if (!comm || !*comm)
			continue;
		strbuf__printf(&text, "%" PRId32 " ", (int32_t)t->v[i].tid);
		if (*comm == ' ') {
			strbuf__puts(&text, "\\x20");
			comm++;
		}
		strbuf__text(&text, comm);
		strbuf__putc(&text, '\n');
	}
	trace_dat__put_sized(b, &text);
}

/* ---- formats --------------------------------------------------------------------------------- */

/* events/header_page and events/header_event of tracefs, for pages of this size. */
static void put_ring_formats(struct strbuf *b, uint32_t page_size)
{
	_cleanup_(strbuf__free) struct strbuf page = { 0 }, event = { 0 };

	strbuf__printf(&page,
		       "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		       "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		       "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		       "\tfield: char data;\toffset:%d;\tsize:%" PRIu32 ";\tsigned:0;\n",
		       TRACE_DAT_PAGE_HEAD, page_size - TRACE_DAT_PAGE_HEAD);
	strbuf__puts(&event, "# compressed entry header\n"
			     "\ttype_len    :    5 bits\n"
			     "\ttime_delta  :   27 bits\n"
			     "\tarray       :   32 bits\n\n"
			     "\tpadding     : type == 29\n"
			     "\ttime_extend : type == 30\n"
			     "\ttime_stamp : type == 31\n"
			     "\tdata max type_len  == 28\n");
	strbuf__add(b, "header_page", 12);
	trace_dat__put_sized(b, &page);
	strbuf__add(b, "header_event", 13);
	trace_dat__put_sized(b, &event);
}

/*
 * Of ftrace's own events, the one that the file has.  The kernel's format says that there are eight
 * addresses, so readers that print the fields read beyond the end of short stacks.
 */
static void put_ftrace_formats(struct strbuf *b)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	trace_dat__put_u32(b, 1);
	strbuf__printf(&text,
		       "name: kernel_stack\nID: %u\n" TRACE_ENTRY_FORMAT
		       "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
		       "\tfield:unsigned long caller[];\toffset:16;\tsize:0;\tsigned:0;\n"
		       "\nprint fmt: \"\\t=> %%ps\\n\", (void *)REC->caller[0]\n",
		       TRACE_DAT_KERNEL_STACK);
	trace_dat__put_sized(b, &text);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A text after its length in 4 bytes. */
static void put_text(struct strbuf *b, const struct strbuf *text)
{
	b->failed |= strbuf__failed(text) || text->len > UINT32_MAX;
	trace_dat__put_u32(b, (uint32_t)text->len);
	strbuf__add(b, text->s ?: "", text->len);
}

static void put_kallsyms(struct strbuf *b, struct trace_dat_stacks *stacks)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	trace_dat_stacks__kallsyms(stacks, &text);
	put_text(b, &text);
}

/* The lines of the kernel's file: readers print the strings. */
static void put_printk_formats(struct strbuf *b, const struct stk_reader *r)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	const char *p = stk_reader__meta(r, "printk_formats") ?: "";

	for (; *p; p++)
		strbuf__putc(&text, *p == '\n' || (*p >= ' ' && *p <= '~') ? *p : '?');
	put_text(b, &text);
}

/* ---- options --------------------------------------------------------------------------------- */

static void put_option(struct strbuf *b, uint16_t option, const struct strbuf *text)
{
	strbuf__add(b, (const char *)&option, sizeof(option));
	put_text(b, text);
}

/* The clock as trace_clock of tracefs shows it; of others, readers take the times for ns. */
static const char *clock_name(const struct stk_reader *r)
{
	const char *clock = stk_reader__meta(r, "clock");

	return !clock		      ? NULL :
	       !strcmp(clock, "mono") ? "[mono]" :
	       !strcmp(clock, "boot") ? "[boot]" :
	       !strcmp(clock, "tai")  ? "[tai]" :
					NULL;
}

static void put_word(struct strbuf *b, const struct stk_reader *r, const char *key)
{
	if (b->len)
		strbuf__putc(b, ' ');
	strbuf__text(b, stk_reader__meta(r, key) ?: "unknown");
}

static void put_names(struct strbuf *b, const struct stk_reader *r)
{
	_cleanup_(strbuf__free) struct strbuf uname = { 0 }, version = { 0 };

	strbuf__puts(&uname, "Linux");
	put_word(&uname, r, "hostname");
	put_word(&uname, r, "kernel.release");
	put_word(&uname, r, "machine");
	strbuf__putc(&uname, '\0');
	put_option(b, OPTION_UNAME, &uname);
	strbuf__printf(&version, "stackonce %s", STACKONCE_VERSION);
	strbuf__putc(&version, '\0');
	put_option(b, OPTION_VERSION, &version);
}

/*
 * As per_cpu/cpuN/stats of tracefs, where entries are those that were not read.  Readers replace
 * the last byte by a newline.
 */
static void put_statistics(struct strbuf *b, const struct trace_dat_pages *pages)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };
	uint32_t i;

	for (i = 0; i < pages->nr_used; i++) {
		strbuf__reset(&text);
		strbuf__printf(&text,
			       "CPU: %" PRIu32 "\nentries: 0\noverrun: %" PRIu64
			       "\nread events: %" PRIu64 "\n\n",
			       i, pages->cpus[i].nr_lost, pages->cpus[i].nr_events);
		put_option(b, OPTION_CPUSTAT, &text);
	}
}

static void put_options(struct strbuf *b, const struct stk_reader *r,
			const struct trace_dat_pages *pages, uint32_t nr_cpus)
{
	_cleanup_(strbuf__free) struct strbuf clock = { 0 }, cpus = { 0 };
	const uint16_t done = OPTION_DONE;

	strbuf__add(b, "options  ", KEYWORD_SIZE);
	put_statistics(b, pages);
	if (clock_name(r)) {
		strbuf__add(&clock, clock_name(r), strlen(clock_name(r)) + 1);
		put_option(b, OPTION_TRACECLOCK, &clock);
	}
	put_names(b, r);
	trace_dat__put_u32(&cpus, nr_cpus);
	put_option(b, OPTION_CPUCOUNT, &cpus);
	strbuf__add(b, (const char *)&done, sizeof(done));
}

/* ---- the head -------------------------------------------------------------------------------- */

/* The table of sections, and what follows it up to the first page. */
static void put_sections(struct strbuf *b, const struct stk_reader *r,
			 const struct trace_dat_pages *pages, uint32_t nr_cpus)
{
	const char *clock = clock_name(r);
	size_t clock_size = clock ? strlen(clock) : 0;
	uint64_t at, end, size;
	uint32_t i;

	end = b->len + nr_cpus * 16ull + (clock ? 8 + clock_size : 0);
	at = (end + pages->page_size - 1) / pages->page_size * pages->page_size;
	end = at - end;
	for (i = 0; i < nr_cpus; i++) {
		size = trace_dat_pages__section_size(pages, i);
		trace_dat__put_u64(b, size ? at : 0);
		trace_dat__put_u64(b, size);
		at += size;
	}
	/* with the option, readers expect the clock here, too */
	if (clock) {
		trace_dat__put_u64(b, clock_size);
		strbuf__add(b, clock, clock_size);
	}
	strbuf__pad(b, '\0', end);
}

void trace_dat_head__put(struct strbuf *b, const struct stk_reader *r,
			 const struct trace_dat_types *types, struct trace_dat_stacks *stacks,
			 const struct trace_dat_tasks *tasks, const struct trace_dat_pages *pages)
{
	uint32_t nr_cpus = pages->nr_used ?: 1; /* readers refuse a file without CPUs */

	strbuf__add(b, MAGIC, sizeof(MAGIC) - 1);
	strbuf__add(b, "6", 2);
	strbuf__putc(b, 0); /* little-endian */
	strbuf__putc(b, 8); /* bytes of a long */
	trace_dat__put_u32(b, pages->page_size);
	put_ring_formats(b, pages->page_size);
	put_ftrace_formats(b);
	trace_dat_types__put(types, b);
	put_kallsyms(b, stacks);
	put_printk_formats(b, r);
	put_tasks(b, tasks);
	trace_dat__put_u32(b, nr_cpus);
	put_options(b, r, pages, nr_cpus);
	strbuf__add(b, "flyrecord", KEYWORD_SIZE);
	put_sections(b, r, pages, nr_cpus);
}
