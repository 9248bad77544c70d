// SPDX-License-Identifier: GPL-2.0-only
/* Converts an FSMB map, with symbols and events if given, to a recording. */
#include "fsmb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "frame.h"
#include "fsmb_format.h"
#include "fsmb_map.h"
#include "input.h"
#include "kallsyms.h"
#include "log.h"
#include "output/output.h"
#include "strbuf.h"
#include "text.h"
#include "text_stacks.h"
#include "trace/write/writer.h"
#include "trace_entry.h"
#include "trace_events.h"

#define ROUND_BYTES (4u << 20) /* memory for the events of a round */
#define TEXT_FIELD FORMAT_FIELD("__data_loc char[]", text, 8, 4, 0)
#define TEXT_OFFSET (TRACE_ENTRY_SIZE + 4)
#define MAX_TEXT (UINT16_MAX - 1) /* a __data_loc length has 16 bits; NUL included */

struct import {
	struct import_fsmb_result result;
	struct fsmb_map *map;
	struct kallsyms *syms;
	struct trace_events *events;
	struct text_stacks *text_stacks;
	struct stk_writer *writer;
	uint32_t *numbers; /* stack numbers by index in the map */
	char *record; /* one event's record, UINT16_MAX bytes */
};

/*
 * A frame that is neither a kernel address nor small is invalid, and would mean something else in a
 * recording.  Small frames: FRAME_TRAMPOLINE.
 */
static bool frame_fits(uint64_t frame)
{
	return FRAME_IS_KERNEL(frame) || !(frame >> 40);
}

static int check_frames(const struct fsmb_map *map, const char *name)
{
	uint64_t frames[STK_MAX_DEPTH];
	uint32_t i, j;

	for (i = 0; i < fsmb_map__nr(map); i++) {
		if (fsmb_map__entry(map, i)->flags & FSMB_STACK_USER) {
			log_msg(STK_LOG_ERROR, 0,
				"%s: offset %llu: a user stack: only kernel stacks can be imported",
				name, (unsigned long long)fsmb_map__offset(map, i));
			return -EINVAL;
		}
		fsmb_map__frames(map, i, frames);
		for (j = 0; j < fsmb_map__entry(map, i)->nr; j++) {
			if (frame_fits(frames[j]))
				continue;
			log_msg(STK_LOG_ERROR, 0, "%s: offset %llu: 0x%llx is not a kernel address",
				name,
				(unsigned long long)fsmb_map__offset(map, i) +
					sizeof(struct fsmb_stack) + j * sizeof(uint64_t),
				(unsigned long long)frames[j]);
			return -EINVAL;
		}
	}
	return 0;
}

static int write_stacks(struct import *im)
{
	uint64_t frames[STK_MAX_DEPTH + 1];
	uint32_t i, nr = fsmb_map__nr(im->map);
	int err;

	err = stk_writer__generation(im->writer, fsmb_map__generation(im->map));
	for (i = 0; !err && i < nr; i++) {
		const struct fsmb_entry *e = fsmb_map__entry(im->map, i);
		uint32_t words = e->nr;

		fsmb_map__frames(im->map, i, frames);
		if (e->flags & FSMB_STACK_TRUNCATED)
			frames[words++] = FRAME_MARKER(FRAME_END, STK_END_TRUNCATED);
		im->result.gone += !!(e->flags & FSMB_STACK_GONE);
		err = stk_writer__stack_imported(im->writer, frames, words, e->id, e->refs,
						 &im->numbers[i]);
	}
	if (err)
		return err;
	im->result.stacks = nr;
	im->result.duplicates = fsmb_map__nr_duplicates(im->map);
	im->result.deep = fsmb_map__nr_deep(im->map);
	return 0;
}

struct distinct_frame {
	uint64_t ip;
	bool gone; /* only in stacks with frames of an unloaded module */
};

/* Of equal addresses, one that is also in other stacks comes first. */
static int compare_frames(const void *pa, const void *pb)
{
	const struct distinct_frame *a = pa, *b = pb;

	return CMP(a->ip, b->ip) ?: CMP(a->gone, b->gone);
}

/* Every distinct frame of the map, sorted. */
static int collect_frames(const struct fsmb_map *map, struct distinct_frame **ret_frames,
			  size_t *ret_nr)
{
	size_t total = 0, at = 0, unique = 0, k;
	uint32_t i, j, nr = fsmb_map__nr(map);
	struct distinct_frame *frames;
	uint64_t ips[STK_MAX_DEPTH];

	for (i = 0; i < nr; i++)
		total += fsmb_map__entry(map, i)->nr;
	frames = calloc(total ? total : 1, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		const struct fsmb_entry *e = fsmb_map__entry(map, i);

		fsmb_map__frames(map, i, ips);
		for (j = 0; j < e->nr; j++)
			frames[at++] =
				(struct distinct_frame){ .ip = ips[j],
							 .gone = e->flags & FSMB_STACK_GONE };
	}
	qsort(frames, total, sizeof(*frames), compare_frames);
	for (k = 0; k < total; k++) {
		if (!unique || frames[unique - 1].ip != frames[k].ip)
			frames[unique++] = frames[k];
	}
	*ret_frames = frames;
	*ret_nr = unique;
	return 0;
}

static bool is_of_module(const struct kallsym *s)
{
	return s && s->mod_len;
}

/* Not of a module, if the frame may be of one that was there before. */
static const struct kallsym *symbol_at(const struct import *im, uint64_t addr, bool gone)
{
	const struct kallsym *s = kallsyms__find(im->syms, addr);

	return gone && is_of_module(s) ? NULL : s;
}

static int write_symbol(struct import *im, const struct kallsym *s, const struct kallsym **last)
{
	char name[1025], mod[257];

	if (!s || s == *last)
		return 0;
	*last = s;
	snprintf(name, sizeof(name), "%.*s", (int)s->name_len, s->name);
	snprintf(mod, sizeof(mod), "%.*s", (int)s->mod_len, s->mod ? s->mod : "");
	return stk_writer__symbol(im->writer, s->start, s->size, name, mod);
}

/*
 * The symbol of another frame may cover that of an unloaded module: one without a name, which is
 * written later, keeps it from naming this one.
 */
static int hide_gone(struct import *im, const struct distinct_frame *frames, size_t nr)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && im->syms && i < nr; i++) {
		const struct distinct_frame *f = &frames[i];

		if (f->gone && (is_of_module(kallsyms__find(im->syms, f->ip - 1)) ||
				is_of_module(kallsyms__find(im->syms, f->ip))))
			err = stk_writer__symbol(im->writer, f->ip - 1, 2, "", "");
	}
	return err;
}

/*
 * A return address is looked up one byte earlier, in the call; an interrupted address as it is.
 * The reader decides which one a frame is, so the recording gets the symbols of both.
 */
static int write_symbols(struct import *im)
{
	_cleanup_free_ struct distinct_frame *frames = NULL;
	const struct kallsym *last = NULL;
	size_t i, nr = 0;
	int err;

	err = collect_frames(im->map, &frames, &nr);
	im->result.frames = nr;
	for (i = 0; !err && im->syms && i < nr; i++) {
		const struct distinct_frame *f = &frames[i];
		const struct kallsym *before = symbol_at(im, f->ip - 1, f->gone);
		const struct kallsym *at = symbol_at(im, f->ip, f->gone);

		im->result.frames_named += before || at;
		err = write_symbol(im, before, &last);
		if (!err)
			err = write_symbol(im, at, &last);
	}
	return err ?: hide_gone(im, frames, nr);
}

/* A `trace` text has the fields of an event only as text, so the format has one field for it. */
static int write_types(struct import *im)
{
	_cleanup_(strbuf__free) struct strbuf format = { 0 };
	uint32_t i;
	int err;

	for (i = 0; i < trace_events__nr_names(im->events); i++) {
		const char *name = trace_events__name(im->events, i);

		strbuf__reset(&format);
		strbuf__printf(&format,
			       "name: %s\nID: %u\n" TRACE_ENTRY_FORMAT TEXT_FIELD "\n"
			       "print fmt: \"%%s\", __get_str(text)\n",
			       name, i + 1);
		if (strbuf__failed(&format))
			return -ENOMEM;
		err = stk_writer__type(im->writer, STK_KIND_TRACEPOINT, "imported", name, "",
				       format.s);
		if (err < 0)
			return err;
	}
	return 0;
}

static int stack_of(struct import *im, const struct trace_event *e, uint32_t *ret_number)
{
	uint32_t index;
	int err;

	if (e->frames) {
		err = text_stacks__number(im->text_stacks, e->frames, e->frames_len, ret_number);
		im->result.events_with_stack += !err;
		return err ? log_err(err, "keep a stack of the trace text") : 0;
	}
	if (!e->has_stack)
		return 0;
	if (fsmb_map__find(im->map, e->stack_id, &index)) {
		im->result.unknown_ids++;
		return 0;
	}
	im->result.events_with_stack++;
	*ret_number = im->numbers[index];
	return 0;
}

static int write_event(struct import *im, const struct trace_event *e)
{
	uint32_t len = MIN(e->text_len, (uint32_t)MAX_TEXT - TEXT_OFFSET);
	uint32_t loc = (len + 1) << 16 | TEXT_OFFSET;
	struct stk_writer_event ev = {
		.ts = e->ts,
		.cpu = e->cpu,
		.event = e->name,
		.flags = e->flags,
		.preempt_count = e->preempt_count,
		.record = im->record,
		.record_len = TEXT_OFFSET + len + 1,
	};
	int err;

	if (e->no_irqflag)
		ev.marks |= STK_MARK_NO_IRQFLAG;
	if (len < e->text_len) {
		ev.marks |= STK_MARK_CUT;
		im->result.cut++;
	}
	memcpy(im->record + TRACE_ENTRY_SIZE, &loc, sizeof(loc));
	memcpy(im->record + TEXT_OFFSET, e->text, len);
	im->record[TEXT_OFFSET + len] = '\0';
	err = stk_writer__task(im->writer, e->tid, e->tgid ? e->tgid : e->tid, e->comm, e->comm_len,
			       &ev.task);
	err = err ?: stack_of(im, e, &ev.kstack);
	return err ?: stk_writer__event(im->writer, &ev);
}

/*
 * Writes the losses from *at on that began by `until`: a loss precedes every event after its start.
 */
static int write_losses(struct import *im, uint64_t until, size_t *at)
{
	int err = 0;

	for (; !err && *at < trace_events__nr_losses(im->events); (*at)++) {
		const struct trace_loss *l = trace_events__loss(im->events, *at);

		if (l->first_ts > until)
			break;
		err = stk_writer__loss(im->writer,
				       &(struct stk_writer_loss){ .first_ts = l->first_ts,
								  .last_ts = l->last_ts,
								  .event = STK_WRITER_ANY,
								  .cpu = l->cpu,
								  .count = l->count });
	}
	return err;
}

static int write_accounting(struct import *im)
{
	uint32_t nr_types = trace_events__nr_names(im->events);
	_cleanup_free_ uint64_t(*counters)[STK_NR_COUNTERS] = NULL;
	size_t i;

	if (!nr_types)
		return 0;
	counters = calloc(nr_types, sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	for (i = 0; i < trace_events__nr(im->events); i++) {
		uint64_t *c = counters[trace_events__get(im->events, i)->name];

		c[STK_C_HAPPENED]++;
		c[STK_C_RECORDED]++;
	}
	return stk_writer__accounting(im->writer, (const uint64_t(*)[STK_NR_COUNTERS])counters,
				      nr_types);
}

static int write_events(struct import *im)
{
	const struct trace_events_counts *counts = trace_events__counts(im->events);
	size_t i, loss = 0, nr = trace_events__nr(im->events);
	int err;

	err = write_types(im);
	err = err ?: text_stacks__new(im->map, im->syms, im->writer, &im->text_stacks);
	for (i = 0; !err && i < nr; i++) {
		const struct trace_event *e = trace_events__get(im->events, i);

		err = write_losses(im, e->ts, &loss) ?: write_event(im, e);
		if (!err && stk_writer__pending(im->writer) >= ROUND_BYTES)
			err = stk_writer__end_round(im->writer, e->ts, 0);
	}
	err = err ?: write_losses(im, UINT64_MAX, &loss);
	if (!err && nr)
		err = stk_writer__end_round(im->writer, trace_events__get(im->events, nr - 1)->ts,
					    0);
	im->result.events = nr;
	im->result.text_stacks = im->text_stacks ? text_stacks__nr(im->text_stacks) : 0;
	im->result.unknown_ids += counts->bad_ids;
	im->result.orphan_ids = counts->orphan_ids;
	im->result.lost = counts->lost;
	im->result.other_lines = counts->other_lines;
	return err ?: write_accounting(im);
}

static int meta_u64(struct import *im, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return stk_writer__meta(im->writer, key, text);
}

static int meta_text(struct import *im, const char *key, const char *value)
{
	return *value ? stk_writer__meta(im->writer, key, value) : 0;
}

/* The identity of the kernel, under the keys that its own recordings have. */
static int write_kernel(struct import *im)
{
	const struct fsmb_trailer *t = fsmb_map__trailer(im->map);
	char text[2 * sizeof(t->build_id) + 1] = "";
	uint32_t i;
	int err;

	if (!t)
		return 0;
	for (i = 0; i < t->build_id_size; i++)
		sprintf(text + 2 * i, "%02x", t->build_id[i]);
	err = meta_text(im, "kernel.build_id", text);
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)t->text_base);
	err = err ?: stk_writer__meta(im->writer, "kernel.text", text);
	err = err ?: meta_text(im, "kernel.release", t->release);
	err = err ?: meta_text(im, "boot_id", t->boot_id);
	err = err ?: meta_u64(im, "stack_map.generation", fsmb_map__generation(im->map));
	err = err ?: meta_u64(im, "import.page_shift", t->page_shift);
	return err || !t->boot_time ? err : meta_u64(im, "import.boot_time", t->boot_time);
}

static int write_meta(struct import *im, const struct import_fsmb_opts *o)
{
	const struct trace_events_counts *counts =
		im->events ? trace_events__counts(im->events) : NULL;
	int err;

	err = stk_writer__meta(im->writer, "source", "fsmb");
	err = err ?: meta_u64(im, "import.version", fsmb_map__version(im->map));
	err = err ?: meta_u64(im, "import.map_stacks", fsmb_map__nr(im->map));
	if (!err)
		err = stk_writer__meta(im->writer, "import.map", o->map);
	if (!err)
		err = stk_writer__meta(im->writer, "import.byte_order",
				       fsmb_map__swapped(im->map) ? "swapped" : "native");
	if (!err && o->kallsyms)
		err = stk_writer__meta(im->writer, "import.kallsyms", o->kallsyms);
	if (!err && o->trace)
		err = stk_writer__meta(im->writer, "import.trace", o->trace);
	if (!err && counts)
		err = meta_u64(im, "import.lost", counts->lost);
	if (!err && counts && counts->nr_cpus)
		err = meta_u64(im, "cpus", counts->nr_cpus);
	return err ?: write_kernel(im);
}

static int write_all(struct import *im, const struct import_fsmb_opts *o, int fd)
{
	const struct stk_writer_opts opts = {
		.nr_cpus = im->events ? MAX(trace_events__counts(im->events)->nr_cpus, 1u) : 1,
	};
	uint32_t nr = fsmb_map__nr(im->map);
	int err;

	im->numbers = calloc(nr ? nr : 1, sizeof(*im->numbers));
	im->record = calloc(1, UINT16_MAX);
	if (!im->numbers || !im->record)
		return -ENOMEM;
	err = stk_writer__new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &opts, &im->writer);
	err = err ?: write_meta(im, o);
	err = err ?: write_symbols(im);
	err = err ?: write_stacks(im);
	if (!err && im->events)
		err = write_events(im);
	return err ?: stk_writer__finish(im->writer, "imported", 0);
}

static int open_output(const struct import_fsmb_opts *o, struct output **ret_output)
{
	const char *const inputs[] = { o->map, o->kallsyms, o->trace };
	const struct output_opts opts = { .path = o->output,
					  .inputs = inputs,
					  .nr_inputs = ARRAY_SIZE(inputs),
					  .force = o->force };

	return output__open(&opts, ret_output);
}

static void warn_oddities(const struct import_fsmb_opts *o, const struct import_fsmb_result *r)
{
	if (r->deep)
		log_warn("%s: truncated %s to %s", o->map, text__count(r->deep, "stack").s,
			 text__count(STK_MAX_DEPTH, "frame").s);
	if (r->gone && o->kallsyms)
		log_warn("%s: %s of unloaded modules: their frames there have no names, or those "
			 "that other stacks have at these addresses",
			 o->map, text__count(r->gone, "stack").s);
	if (r->unknown_ids)
		log_warn("%s: kept %s without a stack, as the stack id is not in %s", o->trace,
			 text__count(r->unknown_ids, "event").s, o->map);
	if (r->orphan_ids)
		log_warn("%s: skipped %s without an event", o->trace,
			 text__count(r->orphan_ids, "<stack_id> line").s);
	if (r->lost)
		log_warn("%s: the kernel lost %s before it wrote this text", o->trace,
			 text__count(r->lost, "event").s);
	if (r->other_lines)
		log_warn("%s: skipped %s in which there is no event", o->trace,
			 text__count(r->other_lines, "line").s);
	if (r->cut)
		log_warn("%s: truncated %s to the size of a record", o->trace,
			 text__count(r->cut, "event").s);
}

static void import__clear(struct import *im)
{
	text_stacks__free(im->text_stacks);
	stk_writer__free(im->writer);
	trace_events__free(im->events);
	kallsyms__free(im->syms);
	fsmb_map__free(im->map);
	free(im->numbers);
	free(im->record);
}

int import_fsmb(const struct import_fsmb_opts *o, struct import_fsmb_result *ret_result)
{
	_cleanup_free_ char *map = NULL, *syms = NULL, *trace = NULL;
	_cleanup_(import__clear) struct import im = { 0 };
	_cleanup_(output__freep) struct output *output = NULL;
	size_t len;
	int err;

	err = open_output(o, &output);
	err = err ?: input__read(o->map, &map, &len);
	err = err ?: fsmb_map__parse(o->map, map, len, &im.map);
	err = err ?: check_frames(im.map, o->map);
	if (!err && o->kallsyms) {
		err = input__read(o->kallsyms, &syms, &len);
		if (!err)
			err = kallsyms__parse(o->kallsyms, syms, len, &im.syms);
	}
	if (!err && o->trace) {
		err = input__read(o->trace, &trace, &len);
		if (!err)
			err = trace_events__parse(o->trace, trace, len, &im.events);
	}
	err = err ?: write_all(&im, o, output__fd(output));
	err = err ?: output__commit(output);
	if (err)
		return err;
	warn_oddities(o, &im.result);
	*ret_result = im.result;
	return 0;
}
