// SPDX-License-Identifier: GPL-2.0-only
/* Stacks, files and losses as events of a CTF trace. */
#include "ctf_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "cleanup.h"
#include "ctf_event.h"
#include "frame.h"
#include "log.h"
#include "losses.h"
#include "names/user_names.h"

#define WORK_FRAME 64 /* of a frame, for stk_reader__charge() */

enum { TABLE_STACK, TABLE_FILE, TABLE_LOSS }; /* ids of the event classes */

static void put_u8(struct strbuf *b, uint8_t v)
{
	strbuf__putc(b, (char)v);
}

static void put_u32(struct strbuf *b, uint32_t v)
{
	strbuf__add(b, (const char *)&v, sizeof(v));
}

static void put_u64(struct strbuf *b, uint64_t v)
{
	strbuf__add(b, (const char *)&v, sizeof(v));
}

static void put_text(struct strbuf *b, const char *s)
{
	ctf__put_string(b, s ?: "", s ? strlen(s) : 0);
}

static int begin(struct ctf_tables *t, uint32_t id, uint64_t ts, struct ctf_stream **ret_stream,
		 struct strbuf **ret_to)
{
	int err = ctf_streams__tables(t->streams, ret_stream);

	return err ?: ctf_stream__begin(*ret_stream, id, ts, ret_to);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_hex(struct strbuf *b, const struct stk_file *file, enum stk_file_id kind)
{
	unsigned int i;

	for (i = 0; i < file->id_len && file->id_kind == kind; i++)
		strbuf__hex(b, file->id[i], 2);
	strbuf__putc(b, '\0');
}

static int put_file(struct ctf_tables *t, uint32_t number, uint64_t ts)
{
	struct ctf_stream *s;
	struct stk_file f;
	struct strbuf *b;
	int err;

	if (number >= t->nr_files && array__reach(&t->files, number, &t->nr_files))
		return log_err(-ENOMEM, "export");
	if (t->files[number] || stk_reader__file(t->src->reader, number, &f))
		return 0;
	t->files[number] = true;
	err = begin(t, TABLE_FILE, ts, &s, &b);
	if (err)
		return err;
	put_u64(b, FRAME_USER(number, 0));
	put_text(b, file__kind(&f));
	put_text(b, f.path);
	put_text(b, f.host_path);
	put_hex(b, &f, STK_ID_BUILD_ID);
	put_hex(b, &f, STK_ID_CONTENT);
	put_u32(b, f.kind == STK_FILE_JIT ? f.pid : 0);
	put_u64(b, f.kind == STK_FILE_JIT ? f.base : 0);
	return ctf_stream__end(s);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Offsets in different files must not be the same address. */
static uint64_t address_of(const struct stk_frame *f)
{
	return f->kind == STK_FRAME_USER ? FRAME_USER(f->file, f->ip) : f->ip;
}

/* As commands print a frame without a name. */
static void put_function(const struct ctf_tables *t, struct strbuf *b, const struct stk_frame *f)
{
	if (f->sym) {
		put_text(b, export_source__function(t->src, f));
		return;
	}
	strbuf__puts(b, "0x");
	strbuf__hex(b, f->ip, 0);
	strbuf__putc(b, '\0');
}

static void put_module(struct strbuf *b, const struct stk_frame *f)
{
	put_text(b, f->mod ?: f->kind == STK_FRAME_KERNEL ? "[kernel]" : "[unknown]");
}

/* No string is empty: in place of such, babeltrace2 2.0.4 may print one of an earlier event. */
static void put_frames(const struct ctf_tables *t, struct strbuf *b, const struct stk_frame *frames,
		       unsigned int nr)
{
	unsigned int i;

	put_u32(b, nr);
	for (i = 0; i < nr; i++)
		put_u64(b, address_of(&frames[i]));
	for (i = 0; i < nr; i++)
		put_function(t, b, &frames[i]);
	for (i = 0; i < nr; i++)
		put_u64(b, frames[i].sym ? frames[i].off : 0);
	for (i = 0; i < nr; i++)
		put_module(b, &frames[i]);
	for (i = 0; i < nr; i++)
		put_u8(b, frames[i].guessed);
}

static int put_stack(struct ctf_tables *t, const struct stk_stack *st,
		     const struct stk_frame *frames, unsigned int nr, uint64_t ts)
{
	struct ctf_stream *s;
	struct strbuf *b;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++)
		if (frames[i].kind == STK_FRAME_USER && frames[i].file)
			err = put_file(t, frames[i].file, ts);
	err = err ?: begin(t, TABLE_STACK, ts, &s, &b);
	if (err)
		return err;
	put_u32(b, st->id);
	put_text(b, stk_stack_end_name(st->end));
	put_frames(t, b, frames, nr);
	t->nr_written++;
	return ctf_stream__end(s);
}

/* The addresses of each stack are kept, as those of most events are those of an earlier one. */
static int keep(struct ctf_tables *t, const struct stk_stack *st, const struct stk_frame *frames,
		unsigned int nr)
{
	struct ctf_stack *to = &t->stacks[st->number];
	unsigned int i;

	if (array__reserve(&t->addresses, (size_t)t->nr_addresses + nr, &t->max_addresses))
		return -ENOMEM;
	*to = (struct ctf_stack){ st->id, nr, t->nr_addresses, true };
	for (i = 0; i < nr; i++)
		t->addresses[t->nr_addresses++] = address_of(&frames[i]);
	return 0;
}

static int charge(struct ctf_tables *t, unsigned int nr_frames)
{
	uint64_t memory = t->nr_stacks * sizeof(*t->stacks) + t->nr_files +
			  t->max_addresses * sizeof(*t->addresses);
	int err = stk_reader__charge(t->src->reader, (int64_t)(memory - t->memory),
				     nr_frames * WORK_FRAME);

	if (!err)
		t->memory = memory;
	return err;
}

static int add_stack(struct ctf_tables *t, uint32_t number, uint64_t ts)
{
	struct stk_frame frames[STK_MAX_DEPTH];
	struct stk_stack st = { .number = number };
	int nr;

	if (number >= t->nr_stacks && array__reach(&t->stacks, number, &t->nr_stacks))
		return log_err(-ENOMEM, "export");
	nr = stk_reader__stack(t->src->reader, number, &st) ?:
		     stk_reader__frames(t->src->reader, number, frames, STK_MAX_DEPTH);
	nr = nr < 0 ? 0 : MIN(nr, STK_MAX_DEPTH);
	if (keep(t, &st, frames, (unsigned int)nr))
		return log_err(-ENOMEM, "export");
	return charge(t, (unsigned int)nr) ?: put_stack(t, &st, frames, (unsigned int)nr, ts);
}

int ctf_tables__stack(struct ctf_tables *t, uint32_t number, uint64_t ts,
		      struct ctf_stack *ret_stack)
{
	int err = 0;

	if (!number) {
		*ret_stack = (struct ctf_stack){ 0 };
		return 0;
	}
	if (number >= t->nr_stacks || !t->stacks[number].known)
		err = add_stack(t, number, ts);
	if (!err)
		*ret_stack = t->stacks[number];
	return err;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Readers count the lost events of each CPU; which ones they were is the event's to say. */
int ctf_tables__loss(struct ctf_tables *t, const struct stk_loss *loss)
{
	uint64_t count = loss->count ?: 1, ts = MIN(loss->first_ts, t->max_ts);
	struct ctf_stream *s;
	struct strbuf *b;
	int err;

	err = begin(t, TABLE_LOSS, ts, &s, &b);
	if (err)
		return err;
	if (loss->type) {
		strbuf__utf8(b, stk_event_type__system(loss->type),
			     strlen(stk_event_type__system(loss->type)));
		strbuf__putc(b, ':');
	}
	put_text(b, loss->type ? stk_event_type__name(loss->type) : "any");
	put_u32(b, loss->cpu == STK_ANY_CPU ? (uint32_t)-1 : loss->cpu);
	put_u64(b, loss->first_ts);
	put_u64(b, loss->last_ts);
	put_u64(b, loss->count);
	err = ctf_stream__end(s);
	if (loss_is_skipped(loss))
		return err;
	if (!err && loss->cpu != STK_ANY_CPU)
		err = ctf_streams__cpu(t->streams, loss->cpu, &s);
	t->nr_lost += count;
	return err ?: ctf_stream__lost(s, ts, count);
}

/* ---- TSDL ------------------------------------------------------------------------------------ */

void ctf_tables__tsdl(struct strbuf *b)
{
	strbuf__puts(b, "\nevent {\n"
			"\tname = \"stackonce:stack\";\n\tid = 0;\n\tstream_id = 0;\n"
			"\tfields := struct {\n"
			"\t\tu32 _stack;\n"
			"\t\tstring _end;\n"
			"\t\tu32 __depth;\n"
			"\t\tx64 _address[__depth];\n"
			"\t\tstring _function[__depth];\n"
			"\t\tx64 _offset[__depth];\n"
			"\t\tstring _module[__depth];\n"
			"\t\tu8 _guessed[__depth];\n"
			"\t};\n};\n"
			"\nevent {\n"
			"\tname = \"stackonce:file\";\n\tid = 1;\n\tstream_id = 0;\n"
			"\tfields := struct {\n"
			"\t\tx64 _base;\n"
			"\t\tstring _kind;\n"
			"\t\tstring _path;\n"
			"\t\tstring _host_path;\n"
			"\t\tstring _build_id;\n"
			"\t\tstring _sha256;\n"
			"\t\tu32 _pid;\n"
			"\t\tx64 _memory;\n"
			"\t};\n};\n"
			"\nevent {\n"
			"\tname = \"stackonce:loss\";\n\tid = 2;\n\tstream_id = 0;\n"
			"\tfields := struct {\n"
			"\t\tstring _event;\n"
			"\t\ts32 _cpu;\n"
			"\t\tu64 _first_ts;\n"
			"\t\tu64 _last_ts;\n"
			"\t\tu64 _count;\n"
			"\t};\n};\n");
}

void ctf_tables__clear(struct ctf_tables *t)
{
	if (t->memory)
		stk_reader__charge(t->src->reader, -(int64_t)t->memory, 0);
	free(t->stacks);
	free(t->addresses);
	free(t->files);
}
