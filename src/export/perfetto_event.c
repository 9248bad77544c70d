// SPDX-License-Identifier: GPL-2.0-only
/* Events: instants on the tracks of their threads with their fields, and timer samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "events/format.h"
#include "perfetto_priv.h"

#define INSTANT 3
#define MODE_KERNEL 1
#define MODE_USER 2

#define NOTE_SIZE 32 /* most bytes of a note without its text */
#define PACKET_SIZE 128 /* most bytes of an instant without its notes */

/* How a field is written. */
enum pf_how { HOW_UINT, HOW_INT, HOW_ADDRESS, HOW_STRING, HOW_PRINTED };

struct pf_field {
	const struct ev_field *field;
	uint64_t name;
	enum pf_how how;
};

/* ---- event types ----------------------------------------------------------------------------- */

static enum pf_how how_of(const struct ev_format *format, const struct ev_field *f)
{
	if (f->kind == EV_FIELD_STRING || (f->kind != EV_FIELD_INT && f->is_char))
		return HOW_STRING;
	if (f->kind != EV_FIELD_INT || f->address >= EV_FUNCTION || ev_format__companion(format, f))
		return HOW_PRINTED;
	if (f->address)
		return HOW_ADDRESS;
	return f->is_signed ? HOW_INT : HOW_UINT;
}

static int find_fields(struct pf_events *ev, struct pf_type *t)
{
	unsigned int i, nr = ev_format__nr_fields(t->format);
	int err = 0;

	t->fields = calloc(nr ?: 1, sizeof(*t->fields));
	if (!t->fields || array__reserve(&ev->notes, nr, &ev->max_notes))
		return -ENOMEM;
	ev->note_list = reallocarray(ev->note_list, ev->max_notes, sizeof(*ev->note_list));
	if (!ev->note_list)
		return -ENOMEM;
	for (i = 0; i < nr && !err; i++) {
		const struct ev_field *f = ev_format__field(t->format, i);
		struct pf_field *to = &t->fields[t->nr_fields];

		if (ev_format__is_hidden(t->format, f))
			continue;
		to->field = f;
		to->how = how_of(t->format, f);
		err = pf_intern__text(ev->intern, PF_FIELD, f->name, &to->name);
		t->nr_fields++;
	}
	return err;
}

/* *ret_format stays NULL if the type has none, or one that cannot be parsed.  -ENOMEM. */
static int parse_format(const struct stk_event_type *type, struct ev_format **ret_format)
{
	const char *text = stk_event_type__format(type);
	int err = text && *text ? ev_format__parse(text, strlen(text), ret_format) : 0;

	return err == -ENOMEM ? err : 0;
}

static int find_type(struct pf_events *ev, const struct stk_event_type *type,
		     const struct pf_type **ret_type)
{
	unsigned int i = stk_event_type__index(type);
	struct pf_type *t;
	int err;

	if (i < ev->nr_types && ev->types[i].is_known) {
		*ret_type = &ev->types[i];
		return 0;
	}
	if (array__reach(&ev->types, i, &ev->nr_types))
		return -ENOMEM;
	t = &ev->types[i];
	t->is_known = true;
	err = pf_intern__text(ev->intern, PF_EVENT, stk_event_type__name(type), &t->name);
	err = err   ?:
		      pf_intern__text(ev->intern, PF_CATEGORY, stk_event_type__system(type),
				      &t->category);
	err = err ?: parse_format(type, &t->format);
	if (!err && t->format)
		err = find_fields(ev, t);
	if (err)
		return err;
	if (t->format)
		pf_sched__find(t, type);
	*ret_type = t;
	return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool put_symbol(void *ctx, uint64_t addr, bool with_offset, struct strbuf *out)
{
	struct stk_frame f;

	if (stk_reader__kernel_symbol(ctx, addr, &f) || !f.sym)
		return false;
	strbuf__puts(out, f.sym);
	if (with_offset)
		strbuf__printf(out, "+0x%llx", (unsigned long long)f.off);
	return true;
}

static void put_text(struct pf_events *ev, const struct pf_type *t, const struct pf_field *f,
		     const void *rec, size_t len)
{
	const struct ev_print_ctx ctx = { .symbol = put_symbol,
					  .symbol_ctx = ev->reader,
					  .long_size = 8 };
	const char *s;
	size_t n;

	if (f->how == HOW_STRING) {
		s = ev_field__bytes(f->field, rec, len, &n);
		strbuf__safe(&ev->text, s ?: "", s ? strnlen(s, n) : 0);
		return;
	}
	strbuf__reset(&ev->raw);
	ev_format__print_field(t->format, f->field, &ctx, rec, len, &ev->raw);
	strbuf__safe(&ev->text, ev->raw.s ?: "", ev->raw.len);
}

/* The position of the text stands for its address until all texts are there. */
static void put_note(struct pf_events *ev, const struct pf_type *t, const struct pf_field *f,
		     const void *rec, size_t len, Pf__DebugAnnotation *ret_note)
{
	size_t at = ev->text.len;

	pf__debug_annotation__init(ret_note);
	PF_SET(ret_note, name_iid, f->name);
	switch (f->how) {
	case HOW_UINT:
		PF_SET(ret_note, uint_value, ev_field__value(f->field, rec, len));
		break;
	case HOW_INT:
		PF_SET(ret_note, int_value, (int64_t)ev_field__value(f->field, rec, len));
		break;
	case HOW_ADDRESS:
		PF_SET(ret_note, pointer_value, ev_field__value(f->field, rec, len));
		break;
	default:
		put_text(ev, t, f, rec, len);
		ret_note->has_string_value = true;
		ret_note->string_value.len = ev->text.len - at;
	}
}

/* Returns the number of notes, which are in ev->notes. */
static unsigned int put_notes(struct pf_events *ev, const struct pf_type *t,
			      const struct stk_event *e)
{
	unsigned int i, nr = 0;
	size_t len, at = 0;
	const void *rec;

	rec = t->nr_fields ? stk_event__record(e, &len) : NULL;
	for (i = 0; rec && i < t->nr_fields; i++) {
		const struct ev_field *f = t->fields[i].field;

		if ((size_t)f->offset + f->size > len)
			continue; /* an event without fields, or one that was cut */
		put_note(ev, t, &t->fields[i], rec, len, &ev->notes[nr]);
		ev->note_list[nr] = &ev->notes[nr];
		nr++;
	}
	for (i = 0; i < nr && !strbuf__failed(&ev->text); i++) {
		ev->notes[i].string_value.data = (uint8_t *)ev->text.s + at;
		at += ev->notes[i].string_value.len;
	}
	return nr;
}

/* ---- the two kinds of packets ---------------------------------------------------------------- */

/* Without its fields if another event has them. */
static int put_instant(struct pf_events *ev, const struct pf_type *t, const struct stk_event *e,
		       uint64_t stack, bool has_fields)
{
	uint64_t time = stk_event__ts(e), track, category = t->category;
	Pf__TracePacket p = pf_packet(&time);
	Pf__TrackEvent event = PF__TRACK_EVENT__INIT;
	int err = pf_tasks__track(ev->tasks, e, &track);
	size_t size;

	if (err)
		return err;
	event.n_category_iids = 1;
	event.category_iids = &category;
	PF_SET(&event, type, INSTANT);
	PF_SET(&event, name_iid, t->name);
	PF_SET(&event, track_uuid, track);
	if (stack)
		PF_SET(&event, callstack_iid, stack);
	strbuf__reset(&ev->text);
	event.n_debug_annotations = has_fields ? put_notes(ev, t, e) : 0;
	event.debug_annotations = ev->note_list;
	if (strbuf__failed(&ev->text))
		return -ENOMEM;
	p.track_event = &event;
	size = PACKET_SIZE + event.n_debug_annotations * NOTE_SIZE + ev->text.len;
	pf_out__packet(ev->out, &p, size);
	return export_source__charge(ev->intern->src, size);
}

static int put_sample(struct pf_events *ev, const struct stk_event *e, uint64_t stack)
{
	uint64_t time = stk_event__ts(e);
	uint32_t cpu = stk_event__cpu(e);
	Pf__TracePacket p = pf_packet(&time);
	Pf__PerfSample sample = PF__PERF_SAMPLE__INIT;

	PF_SET(&sample, cpu, cpu);
	PF_SET(&sample, pid, stk_event__pid(e));
	PF_SET(&sample, tid, stk_event__tid(e));
	PF_SET(&sample, cpu_mode, stk_event__kstack(e) ? MODE_KERNEL : MODE_USER);
	PF_SET(&sample, timebase_count, ++pf_events__cpu(ev, cpu)->samples);
	if (stack)
		PF_SET(&sample, callstack_iid, stack);
	p.perf_sample = &sample;
	pf_out__packet(ev->out, &p, PACKET_SIZE);
	return 0;
}

int pf_events__add(struct pf_events *ev, const struct stk_event *e)
{
	const struct stk_event_type *type = stk_event__type(e);
	const struct pf_type *t;
	bool has_fields = true;
	uint64_t stack;
	int err = find_type(ev, type, &t) ?:
			  pf_intern__stack(ev->intern, stk_event__kstack(e), stk_event__ustack(e),
					   &stack);

	if (err)
		return err;
	if (stk_event_type__kind(type) == STK_KIND_SAMPLE)
		return put_sample(ev, e, stack);
	if (t->sched && pf_sched__add(ev, t, e)) {
		has_fields = false;
		err = export_source__charge(ev->intern->src, ev->text.len);
	}
	return err ?: put_instant(ev, t, e, stack, has_fields);
}

/* ---- losses ---------------------------------------------------------------------------------- */

void pf_events__note_loss(struct pf_events *ev, const struct stk_loss *loss)
{
	unsigned int i;

	if (loss->cpu != STK_ANY_CPU) {
		pf_events__cpu(ev, loss->cpu)->has_loss = true;
		pf_events__cpu(ev, loss->cpu)->lost += loss->count;
		return;
	}
	for (i = 0; i < PF_MAX_CPUS; i++)
		ev->cpus[i].has_loss = true;
}

static void put_ftrace_stats(struct pf_events *ev, unsigned int phase)
{
	Pf__TracePacket p = PF__TRACE_PACKET__INIT;
	Pf__FtraceStats stats = PF__FTRACE_STATS__INIT;
	Pf__FtraceCpuStats cpu = PF__FTRACE_CPU_STATS__INIT, *list[] = { &cpu };
	uint32_t i;

	for (i = 0; i < PF_MAX_CPUS; i++) {
		if (!ev->cpus[i].lost)
			continue;
		PF_SET(&cpu, cpu, i);
		PF_SET(&cpu, dropped_events, phase == 1 ? 0 : ev->cpus[i].lost);
		PF_SET(&stats, phase, phase);
		stats.n_cpu_stats = 1;
		stats.cpu_stats = list;
		p.ftrace_stats = &stats;
		pf_out__packet(ev->out, &p, 0);
	}
}

void pf_events__put_losses(struct pf_events *ev)
{
	put_ftrace_stats(ev, 1);
	put_ftrace_stats(ev, 2);
}

void pf_events__free(struct pf_events *ev)
{
	unsigned int i;

	for (i = 0; i < ev->nr_types; i++) {
		ev_format__free(ev->types[i].format);
		free(ev->types[i].fields);
	}
	free(ev->types);
	free(ev->notes);
	free(ev->note_list);
	strbuf__free(&ev->text);
	strbuf__free(&ev->raw);
}
