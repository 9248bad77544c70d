// SPDX-License-Identifier: GPL-2.0-only
/* Writes a recording as a trace.dat file, for trace-cmd report and KernelShark. */
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "formats.h"
#include "log.h"
#include "losses.h"
#include "text.h"
#include "trace_dat_events.h"
#include "trace_dat_head.h"
#include "trace_dat_pages.h"
#include "trace_dat_stacks.h"
#include "trace_entry.h"

#define FREE_BYTES 512 /* of an event, most of which take less here */

struct trace_dat {
	const struct export_source *src;
	struct output *output;
	const char *path;
	struct trace_dat_types types;
	struct trace_dat_stacks stacks;
	struct trace_dat_tasks tasks;
	struct trace_dat_pages pages;
	uint64_t nr_events, nr_lost;
	uint64_t nr_left_out; /* events of types that there is no id for */
};

/* ---- events ---------------------------------------------------------------------------------- */

/* The head of an entry, the kernel's struct trace_entry. */
struct entry_head {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t tid;
};

static bool has_fields(const struct stk_event *e)
{
	return !(stk_event__marks(e) & STK_MARK_NO_FIELDS);
}

static void put_head(char *to, const struct stk_event *e, uint16_t type)
{
	struct entry_head head = { .type = type,
				   .flags = stk_event__flags(e),
				   .preempt_count = stk_event__preempt_count(e),
				   .tid = (int32_t)stk_event__tid(e) };

	memcpy(to, &head, sizeof(head));
}

static int put_record(struct trace_dat *d, const struct stk_event *e, struct trace_dat_type *type,
		      uint16_t id, size_t *bytes)
{
	size_t len, size;
	const void *rec = stk_event__record(e, &len);
	char *to;
	int err;

	size = has_fields(e) ? trace_dat_type__size(type, rec, len) : TRACE_ENTRY_SIZE;
	err = trace_dat_pages__add(&d->pages, stk_event__cpu(e), stk_event__ts(e), size, &to);
	if (err)
		return err;
	*bytes += size;
	if (has_fields(e))
		trace_dat_type__put(type, to, size, rec, len);
	put_head(to, e, id);
	return 0;
}

/* The stack follows its event at the same time: so readers show it below. */
static int put_stack(struct trace_dat *d, const struct stk_event *e, bool is_user, size_t *bytes)
{
	uint32_t number = is_user ? stk_event__ustack(e) : stk_event__kstack(e);
	const char *entry;
	size_t len;
	char *to;
	int err = trace_dat_stacks__get(&d->stacks, number, is_user, &entry, &len);

	if (err == -ENOMEM)
		return log_err(err, "export");
	if (err || !len)
		return err;
	err = trace_dat_pages__add(&d->pages, stk_event__cpu(e), stk_event__ts(e),
				   TRACE_ENTRY_SIZE + len, &to);
	if (err)
		return err;
	put_head(to, e, is_user ? TRACE_DAT_USER_STACK : TRACE_DAT_KERNEL_STACK);
	memcpy(to + TRACE_ENTRY_SIZE, entry, len);
	*bytes += TRACE_ENTRY_SIZE + len;
	return 0;
}

static int add_code(void *ctx, uint64_t address)
{
	struct trace_dat *d = ctx;

	return trace_dat_stacks__add_address(&d->stacks, address);
}

/* What the event needs in the head of the file. */
static int note_names(struct trace_dat *d, const struct stk_event *e, struct trace_dat_type *type)
{
	size_t len;
	const void *rec = stk_event__record(e, &len);
	int err = trace_dat_tasks__add(&d->tasks, d->src->reader, e);

	if (!err && has_fields(e))
		err = trace_dat_type__code(type, rec, len, add_code, d);
	return err == -ENOMEM ? log_err(err, "export") : err;
}

static int add_event(void *ctx, const struct stk_event *e)
{
	struct trace_dat *d = ctx;
	struct trace_dat_type *type = trace_dat_types__of(&d->types, stk_event__type(e));
	uint16_t id = type ? trace_dat_type__id(&d->types, type, has_fields(e)) : 0;
	size_t bytes = 0;
	int err;

	if (!type)
		return log_err(-ENOMEM, "export");
	if (!id) {
		d->nr_left_out++;
		return 0;
	}
	err = note_names(d, e, type)			 ?:
		      put_record(d, e, type, id, &bytes) ?:
		      put_stack(d, e, false, &bytes)	 ?:
							   put_stack(d, e, true, &bytes);
	if (err)
		return err;
	d->nr_events++;
	d->pages.cpus[stk_event__cpu(e)].nr_events++;
	return export_source__charge_beyond(d->src, bytes, FREE_BYTES);
}

static int add_loss(void *ctx, const struct stk_loss *loss)
{
	struct trace_dat *d = ctx;

	if (loss_is_skipped(loss))
		return 0;
	d->nr_lost += loss->count ?: 1;
	return trace_dat_pages__lost(&d->pages, loss->cpu, loss->count);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int write_file(struct trace_dat *d)
{
	_cleanup_(strbuf__free) struct strbuf head = { 0 };
	uint32_t i;
	int err;

	trace_dat_pages__finish(&d->pages);
	trace_dat_head__put(&head, d->src->reader, &d->types, &d->stacks, &d->tasks, &d->pages);
	err = strbuf__failed(&head) ? -ENOMEM : output__write(d->output, head.s, head.len);
	for (i = 0; i < d->pages.nr_used && !err; i++)
		err = trace_dat_pages__write(&d->pages, i);
	return err ? export__failed(d->src->reader, d->path, err) : output__commit(d->output);
}

static void put_summary(const struct trace_dat *d, struct strbuf *summary)
{
	uint32_t i, cpus = 0;

	for (i = 0; i < d->pages.nr_used; i++)
		cpus += d->pages.cpus[i].nr_pages != 0;
	if (d->pages.nr_back)
		log_warn("times go back %s: readers show these events out of order",
			 text__count(d->pages.nr_back, "time").s);
	if (d->nr_left_out)
		log_warn("left out %s of more types than KernelShark has ids for, %d",
			 text__count(d->nr_left_out, "event").s,
			 TRACE_DAT_MAX_ID - TRACE_DAT_FIRST_ID);
	strbuf__printf(summary, "%s of %s, %s", text__count(d->nr_events, "event").s,
		       text__count(cpus, "CPU").s, text__count(d->stacks.nr_written, "stack").s);
	if (d->nr_lost)
		strbuf__printf(summary, "; %s lost", text__count(d->nr_lost, "event").s);
}

static void trace_dat__clear(struct trace_dat *d)
{
	trace_dat_pages__clear(&d->pages);
	trace_dat_tasks__clear(&d->tasks, d->src->reader);
	trace_dat_stacks__clear(&d->stacks);
	trace_dat_types__clear(&d->types);
	output__free(d->output);
}

int export__trace_dat(const struct export_source *src, const struct output_opts *output,
		      struct strbuf *summary)
{
	_cleanup_(trace_dat__clear) struct trace_dat d = {
		.src = src,
		.path = output->path,
		.stacks = { .src = src },
		.pages = { .reader = src->reader, .fd = -1, .page_size = TRACE_DAT_PAGE_MIN },
	};
	const struct export_taker taker = { add_event, add_loss, &d };
	int damage, err;

	err = output__open(output, &d.output);
	d.pages.output = d.output;
	err = err ?: export_source__each(src, &taker, &damage);
	err = err ?: write_file(&d);
	if (err)
		return err;
	put_summary(&d, summary);
	return damage;
}
