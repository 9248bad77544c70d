// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parsers of the import: the first byte of the input selects the parser for the rest.  Every
 * result is used, so that the sanitizers see all memory that is returned.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/fsmb_map.h"
#include "import/kallsyms.h"
#include "import/text_stacks.h"
#include "import/trace_events.h"
#include "import/trace_text.h"
#include "stackonce.h"
#include "trace/write/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum; /* keeps reads from being optimised away */

static void use(const char *p, size_t n)
{
	uint64_t s = 0;

	while (n--)
		s += (unsigned char)*p++;
	sum += s;
}

static void check(int ok)
{
	if (!ok)
		abort();
}

static void fuzz_map(const uint8_t *data, size_t size)
{
	uint64_t frames[STK_MAX_DEPTH], first[STK_MAX_DEPTH];
	size_t bytes = 16;
	struct fsmb_map *m;
	uint32_t i, index, duplicates = 0;
	bool deep;

	if (fsmb_map__parse("map", data, size, &m))
		return;
	deep = fsmb_map__nr_deep(m);
	for (i = 0; i < fsmb_map__nr(m); i++) {
		const struct fsmb_entry *e = fsmb_map__entry(m, i);

		check(e->nr <= STK_MAX_DEPTH && e->first <= i);
		/* frames that a deeper stack has lost may be between them */
		check(deep ? fsmb_map__offset(m, i) >= bytes : fsmb_map__offset(m, i) == bytes);
		bytes = fsmb_map__offset(m, i) + 16 + e->nr * 8ul;
		fsmb_map__frames(m, i, frames);
		fsmb_map__frames(m, e->first, first);
		check(fsmb_map__entry(m, e->first)->nr == e->nr);
		check(!memcmp(frames, first, e->nr * sizeof(*frames)));
		check(!fsmb_map__find(m, e->id, &index) && index == i);
		duplicates += e->first != i;
	}
	if (fsmb_map__trailer(m))
		bytes += fsmb_map__trailer(m)->size;
	check(deep ? bytes <= size : bytes == size);
	check(duplicates == fsmb_map__nr_duplicates(m));
	fsmb_map__free(m);
}

static void fuzz_kallsyms(const char *text, size_t size)
{
	const struct kallsym *s;
	struct kallsyms *k;
	uint64_t addr = 0;
	int i;

	if (kallsyms__parse("kallsyms", text, size, &k))
		return;
	for (i = 0; i < 64; i++) {
		s = kallsyms__find(k, addr);
		if (s) {
			check(s->start <= addr && (!s->size || addr - s->start < s->size));
			use(s->name, s->name_len);
			use(s->mod, s->mod_len);
		}
		addr = s && s->size ? s->start + s->size : addr * 5 + 0xffffffff81000000;
	}
	kallsyms__free(k);
}

static void fuzz_frame(const struct trace_line *l)
{
	struct trace_frame f;

	trace_text__frame(l->text, l->text_len, &f);
	check(f.name >= l->text && f.name + f.name_len <= l->text + l->text_len);
	use(f.name, f.name_len);
	use(f.mod, f.mod_len);
}

/* The stacks in full become stacks of a recording, with and without kallsyms. */
static void fuzz_text_stacks(const struct trace_events *t)
{
	static const char syms[] = "ffffffff81000000 T a\nffffffff81000010 t f\n"
				   "ffffffffc0000000 t f\t[m]\n";
	static const uint32_t none[] = { FSMB_MAGIC, FSMB_VERSION, 0, 0 };
	const struct stk_writer_opts opts = { .nr_cpus = 1 };
	struct text_stacks *stacks = NULL;
	struct stk_writer *w = NULL;
	struct kallsyms *k = NULL;
	struct fsmb_map *m = NULL;
	uint32_t number;
	size_t i;

	check(!kallsyms__parse("kallsyms", syms, sizeof(syms) - 1, &k));
	check(!fsmb_map__parse("map", none, sizeof(none), &m));
	check(!stk_writer__new(open("/dev/null", O_WRONLY | O_CLOEXEC), &opts, &w));
	check(!text_stacks__new(m, trace_events__nr(t) % 2 ? k : NULL, w, &stacks));
	for (i = 0; i < trace_events__nr(t); i++) {
		const struct trace_event *e = trace_events__get(t, i);

		if (e->frames)
			check(!text_stacks__number(stacks, e->frames, e->frames_len, &number));
	}
	check(!stk_writer__finish(w, "done", 0));
	text_stacks__free(stacks);
	stk_writer__free(w);
	fsmb_map__free(m);
	kallsyms__free(k);
}

static void fuzz_trace(const char *text, size_t size)
{
	struct trace_events *t;
	struct trace_text lines;
	struct trace_line l;
	size_t i, events = 0, stacks = 0;

	trace_text__init(&lines, text, size);
	while (trace_text__next(&lines, &l)) {
		if (l.kind == TRACE_LINE_EVENT) {
			events++;
			check(l.cpu < TRACE_TEXT_MAX_CPUS && l.event_len <= 256);
			check(l.text >= text && l.text + l.text_len <= text + size);
			use(l.event, l.event_len);
		}
		stacks += l.kind == TRACE_LINE_STACK;
		if (l.kind == TRACE_LINE_FRAME)
			fuzz_frame(&l);
	}
	if (trace_events__parse("trace", text, size, &t))
		return;
	check(trace_events__nr(t) >= events && trace_events__nr(t) <= events + stacks);
	for (i = 0; i < trace_events__nr(t); i++) {
		const struct trace_event *e = trace_events__get(t, i);

		check(!i || e[-1].ts <= e->ts);
		check(e->cpu < trace_events__counts(t)->nr_cpus);
		use(e->comm, e->comm_len);
		use(e->text, e->text_len);
		use(e->frames, e->frames_len);
		check(strlen(trace_events__name(t, e->name)) > 0);
	}
	fuzz_text_stacks(t);
	trace_events__free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *copy;

	if (size < 1)
		return 0;
	copy = malloc(size - 1 + (size == 1)); /* exact, so that a read past the end is detected */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, size - 1);
	switch (data[0] % 3) {
	case 0:
		fuzz_map(copy, size - 1);
		break;
	case 1:
		fuzz_kallsyms(copy, size - 1);
		break;
	case 2:
		fuzz_trace(copy, size - 1);
		break;
	}
	free(copy);
	return 0;
}
