// SPDX-License-Identifier: GPL-2.0-only
/* The info command's text. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"

static void put_label(struct info *in, const char *label)
{
	strbuf__printf(&in->out.b, "%s%-11s%s ", out__colour(&in->out, OUT_HEAD), label,
		       out__colour(&in->out, OUT_PLAIN));
}

static void put_string(struct info *in, const char *s)
{
	strbuf__text(&in->out.b, s);
}

/* The metadata that is printed, in rows; "%" stands for the value. */
static const struct {
	const char *label, *key, *text;
} meta_rows[] = {
	{ "Host", "hostname", "%" },
	{ "Host", "machine", "%" },
	{ "Host", "cpus.online", "CPUs %" },
	{ "Kernel", "kernel.release", "%" },
	{ "Kernel", "kernel.build_id", "build id %" },
	{ "Kernel", "kernel.text", "text at %" },
	{ "Clock", "clock", "%" },
	{ "Clock", "boot_id", "boot %" },
	{ "Clock", "clock.steps", "set while recording (by ns at ns): %; its times do not follow" },
	{ "Command", "cmdline", "%" },
	{ "Selected", "selected.cgroups", "cgroups %" },
	{ "Selected", "selected.uids", "users %" },
	{ "Selected", "selected.cpus", "CPUs %" },
	{ "Selected", "selected.delay_ms", "from % ms after the start" },
	{ "Left out", "events.left_out", "%" },
	{ "Uncounted", "events.uncounted",
	  "the number of calls of % that the kernel dropped is unknown" },
	{ "Native", "events.native", "%" },
	{ "Missing", "metadata.left_out", "%" },
	{ "Imported", "source", "%" },
	{ "Imported", "import.map", "from %" },
	{ "Imported", "import.kallsyms", "symbols from %" },
	{ "Imported", "import.trace", "events from %" },
};

static void put_meta(struct info *in)
{
	const char *label = NULL, *value, *mark;
	struct strbuf *b = &in->out.b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(meta_rows); i++) {
		value = stk_reader__meta(in->rd.reader, meta_rows[i].key);
		if (!value || !*value)
			continue;
		if (label && !strcmp(label, meta_rows[i].label)) {
			strbuf__puts(b, ", ");
		} else {
			strbuf__puts(b, label ? "\n" : "");
			put_label(in, meta_rows[i].label);
		}
		label = meta_rows[i].label;
		mark = strchr(meta_rows[i].text, '%');
		strbuf__add(b, meta_rows[i].text, mark - meta_rows[i].text);
		put_string(in, value);
		strbuf__puts(b, mark + 1);
	}
	strbuf__puts(b, label ? "\n" : "");
}

#define NAMES_SHOWN 20

/* "Witness     the counter program: 60 events": a line for each witness. */
static void put_witnesses(struct info *in)
{
	unsigned int i, nr[NR_WITNESSES] = { 0 }, nr_types = stk_reader__nr_types(in->rd.reader);
	struct strbuf names[NR_WITNESSES] = { 0 };
	enum witness w;

	for (i = 0; i < nr_types; i++) {
		const struct stk_event_type *t = stk_reader__type(in->rd.reader, i);
		_cleanup_free_ char *name = event__full_name(t);

		w = info__witness(in, t, name ?: "");
		strbuf__puts(&names[w], nr[w]++ ? ", " : "");
		strbuf__text(&names[w], name ?: "");
	}
	for (w = 0; w < NR_WITNESSES; w++) {
		if (w != WITNESS_UNSAID && nr[w]) {
			put_label(in, "Witness");
			strbuf__printf(&in->out.b, "%s: %s\n", info_witnesses[w].text,
				       nr[w] > NAMES_SHOWN && !in->verbose ?
					       text__count(nr[w], "event").s :
				       names[w].s ?:
						    "");
		}
		in->out.b.failed |= strbuf__failed(&names[w]);
		strbuf__free(&names[w]);
	}
}

/* A line for each event whose record differed from the kernel's. */
static void put_wrong(struct info *in)
{
	const char *text = stk_reader__meta(in->rd.reader, "fields.differed"), *line;
	_cleanup_free_ char *copy = text ? strdup(text) : NULL;
	char *rest = copy;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		put_label(in, "Wrong");
		put_string(in, line);
		strbuf__putc(&in->out.b, '\n');
	}
}

static void put_when(struct info *in)
{
	struct strbuf *b = &in->out.b;
	char text[64] = "";
	time_t t = in->t.start_wall_ns / 1000000000;
	struct tm tm;

	if (t && localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z, ", &tm);
	put_label(in, "Recorded");
	if (!in->t.events) {
		strbuf__printf(b, "%sno events\n", text);
		return;
	}
	strbuf__printf(b, "%s%s of events", text, text__ns(in->t.last_ts - in->t.first_ts).s);
	if (in->t.last_ts)
		strbuf__printf(b, " (%s to %s)", text__time(in->t.first_ts).s,
			       text__time(in->t.last_ts).s);
	strbuf__putc(b, '\n');
}

static void put_file(struct info *in, unsigned int i)
{
	const struct stk_reader *r = stk_reader__member(in->rd.reader, i);
	const char *host = stk_reader__meta(r, "hostname"), *path = in->rd.paths[i];
	struct stk_totals t;

	stk_reader__totals(r, &t);
	put_label(in, "File");
	put_string(in, strcmp(path, "-") ? path : "standard input");
	strbuf__printf(&in->out.b, ", %s, %s", text__bytes(t.bytes).s,
		       t.clean_end	       ? "ended cleanly" :
		       info__is_running(in, r) ? "recording in progress" :
						 "ended abruptly: the last events may be missing");
	if (in->rd.nr_paths > 1 && host) {
		strbuf__puts(&in->out.b, ", host ");
		put_string(in, host);
	}
	strbuf__putc(&in->out.b, '\n');
}

static void put_what(struct info *in)
{
	unsigned int i;

	for (i = 0; i < in->rd.nr_paths; i++)
		put_file(in, i);
	put_when(in);
	put_meta(in);
	put_witnesses(in);
	put_wrong(in);
}

#define META_SHOWN 1000

static void put_all_meta(struct info *in)
{
	struct strbuf *b = &in->out.b;
	const char *key, *value;
	unsigned int i;

	strbuf__putc(b, '\n');
	for (i = 0; i < stk_reader__nr_meta(in->rd.reader); i++) {
		stk_reader__meta_at(in->rd.reader, i, &key, &value);
		put_string(in, key);
		strbuf__puts(b, ": ");
		if (strlen(value) <= META_SHOWN)
			put_string(in, value);
		else
			strbuf__printf(b, "%zu bytes (--json prints them)", strlen(value));
		strbuf__putc(b, '\n');
	}
}

/* "    lost by: ring 12, nested 3"; only reasons that occurred. */
static void put_reasons(struct info *in, const char *what, const struct account *a,
			const struct reason *reasons)
{
	struct strbuf *b = &in->out.b;
	bool any = false;

	for (; reasons->name; reasons++) {
		if (!a->c[reasons->counter])
			continue;
		strbuf__printf(b, "%s%s%s %s", any ? ", " : "    ", any ? "" : what, reasons->name,
			       text__number(a->c[reasons->counter]).s);
		any = true;
	}
	strbuf__puts(b, any ? "\n" : "");
}

void info__put_columns(struct out *o, const struct account *a)
{
	column__number(o, "happened", 13, a->c[STK_C_HAPPENED]);
	column__number(o, "recorded", 13, a->c[STK_C_RECORDED]);
	column__number(o, "filtered", 13, a->filtered);
	column__number(o, "lost", 11, a->lost);
}

static void put_account_row(struct info *in, const char *name, int width, const struct account *a)
{
	bool exact = a->c[STK_C_HAPPENED] == a->c[STK_C_RECORDED] + a->filtered + a->lost;
	struct strbuf *b = &in->out.b;
	size_t start = b->len;

	put_string(in, name);
	if (b->len - start < (size_t)width)
		strbuf__pad(b, ' ', width - (b->len - start));
	strbuf__puts(b, a->lost ? out__colour(&in->out, OUT_WARN) : "");
	info__put_columns(&in->out, a);
	strbuf__puts(b, a->lost ? out__colour(&in->out, OUT_PLAIN) : "");
	strbuf__puts(b, exact ? "\n" : "  does not add up\n");
	put_reasons(in, "filtered by: ", a, info_filtered_by);
	put_reasons(in, "lost by: ", a, info_lost_by);
	if (a->c[STK_C_NO_FIELDS])
		strbuf__printf(b, "    fields missing in %s\n",
			       text__number(a->c[STK_C_NO_FIELDS]).s);
}

/* Only of events that the recorder's programs filled at first. */
static void put_kernel_fields(struct info *in, const char *event)
{
	uint64_t since;

	if (info__kernel_fields(in, event, &since))
		strbuf__printf(&in->out.b,
			       "    fields by the kernel from %s on, by the recorder's program "
			       "before\n",
			       text__time(since).s);
}

/* Unless enough records agreed with the kernel's. */
static void put_fields_check(struct info *in, const char *name, const struct account *a)
{
	uint64_t compared;

	if (!info__fields_compared(in, name, a, &compared))
		return;
	if (compared < INFO_FIELDS_MIN)
		strbuf__printf(&in->out.b,
			       "    fields: %" PRIu64 " of %d compared with the kernel's\n",
			       compared, INFO_FIELDS_MIN);
	if (in->verbose || a->c[STK_C_FIELDS_DIFFERED])
		put_reasons(in, "fields compared with the kernel's: ", a, info_fields_checks);
}

static void put_event_cost(struct info *in, const struct account *a)
{
	uint64_t measured = a->c[STK_C_COST_EVENTS];

	if (measured >= INFO_COST_MIN && in->verbose)
		strbuf__printf(&in->out.b, "    cost: %s each (%s measured), %s in all\n",
			       text__ns(a->c[STK_C_COST_NS] / measured).s, text__number(measured).s,
			       text__ns(info__cost(a)).s);
}

static void put_accounting(struct info *in)
{
	unsigned int i, nr = stk_reader__nr_types(in->rd.reader), quiet = 0;
	struct strbuf *b = &in->out.b;
	struct account a;
	int width = 16;

	for (i = 0; i < nr; i++) {
		_cleanup_free_ char *name = event__full_name(stk_reader__type(in->rd.reader, i));

		width = MAX(width, (int)MIN(strlen(name ?: ""), 48u));
	}
	strbuf__printf(b, "\n%s%-*s", out__colour(&in->out, OUT_HEAD), width, "name");
	in->out.heads = true;
	info__put_columns(&in->out, &in->total);
	in->out.heads = false;
	strbuf__printf(b, "%s\n", out__colour(&in->out, OUT_PLAIN));
	for (i = 0; i < nr; i++) {
		const struct stk_event_type *t = stk_reader__type(in->rd.reader, i);
		_cleanup_free_ char *name = event__full_name(t);
		const char *filter = stk_event_type__filter(t);

		info__account(in, t, &a);
		if (!a.c[STK_C_HAPPENED] && !a.c[STK_C_RECORDED] && !a.lost && !in->verbose) {
			quiet++;
			continue;
		}
		put_account_row(in, name ?: "", width, &a);
		put_kernel_fields(in, name ?: "");
		if (stk_event_type__kind(t) == STK_KIND_EMULATED)
			strbuf__puts(b, "    emulated by function probes\n");
		put_fields_check(in, name ?: "", &a);
		put_event_cost(in, &a);
		if (*filter) {
			strbuf__puts(b, "    filter: ");
			put_string(in, filter);
			strbuf__putc(b, '\n');
		}
	}
	if (quiet)
		strbuf__printf(b, "%s never happened (-v lists %s)\n",
			       text__count(quiet, "event").s, quiet == 1 ? "it" : "them");
	put_account_row(in, "total", width, &in->total);
	if (!in->accounted)
		strbuf__puts(b, "The recording has no accounting: events were counted.\n");
	else if (in->t.events != in->total.c[STK_C_RECORDED])
		strbuf__printf(b, "The file holds %s.\n", text__count(in->t.events, "event").s);
}

/* "1,415 hit (97.45%)" */
static struct text share(uint64_t part, uint64_t whole, const char *what)
{
	struct text t;

	snprintf(t.s, sizeof(t.s), "%.27s %.40s (%.2f%%)", text__number(part).s, what,
		 whole ? 100.0 * part / whole : 0.0);
	return t;
}

/* A line for each reason that occurred. */
static void put_shares(struct info *in, const struct account *a, const struct reason *reasons,
		       uint64_t whole)
{
	for (; reasons->name; reasons++)
		if (a->c[reasons->counter])
			strbuf__printf(&in->out.b, "    %s\n",
				       share(a->c[reasons->counter], whole, reasons->name).s);
}

static void put_stacks(struct info *in)
{
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;

	strbuf__putc(b, '\n');
	put_label(in, "Stacks");
	strbuf__printf(b, "%s unique, %s", text__number(in->unique).s,
		       text__count(in->t.nodes, "caller tree node").s);
	if (in->t.duplicates)
		strbuf__printf(b, ", duplicates under other ids: %s",
			       text__number(in->t.duplicates).s);
	strbuf__putc(b, '\n');
	if (!a->lookups)
		return;
	put_label(in, "Lookups");
	strbuf__printf(b, "%s: %s, %s, %s\n", text__number(a->lookups).s,
		       share(a->c[STK_C_STACK_HIT], a->lookups, "hit").s,
		       share(a->c[STK_C_STACK_NEW], a->lookups, "new").s,
		       share(a->fallbacks, a->lookups, "fell back").s);
	put_reasons(in, "fell back by: ", a, info_fell_by);
	/* Empty and failed stacks were not looked up. */
	put_shares(in, a, info_stack_ends,
		   a->lookups + a->c[STK_C_STACK_EMPTY] + a->c[STK_C_STACK_FAILED]);
}

/* How kernel stacks were walked. */
static void put_kernel_unwind(struct info *in)
{
	const char *by = stk_reader__meta(in->rd.reader, "kernel_unwind");
	const char *why = stk_reader__meta(in->rd.reader, "kernel_unwind.why");
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;
	uint64_t taken = a->c[STK_C_WALKED];
	unsigned int i;

	if (!by)
		return;
	put_label(in, "Unwinding");
	if (why) {
		strbuf__puts(b, "by the kernel: ");
		put_string(in, why);
		strbuf__putc(b, '\n');
		return;
	}
	for (i = 0; info_walk_left[i].name; i++)
		taken += a->c[info_walk_left[i].counter];
	strbuf__printf(
		b, "%s, %s; the others by the kernel\n",
		share(a->c[STK_C_WALKED], taken,
		      strcmp(by, "frame_pointers") ? "kernel stacks by ORC rules" :
						     "kernel stacks along frame pointers")
			.s,
		share(a->c[STK_C_WALK_REMEMBERED], a->c[STK_C_WALKED], "of these remembered").s);
	put_reasons(in, "left to the kernel: ", a, info_walk_left);
	put_reasons(in, "compared with the kernel: ", a, info_walk_checks);
}

/* The unwind tables that were loaded. */
static void put_tables(struct info *in)
{
	uint64_t loaded, bytes, cfi, ns, evicted, refused;
	struct strbuf *b = &in->out.b;

	if (!info__meta_u64(in, "unwind.tables_loaded", &loaded))
		return;
	put_label(in, "Tables");
	strbuf__printf(b, "%s", text__count(loaded, "file").s);
	if (info__meta_u64(in, "unwind.table_bytes", &bytes)) {
		strbuf__printf(b, ", %s", text__bytes(bytes).s);
		if (info__meta_u64(in, "unwind.cfi_bytes", &cfi) && cfi)
			strbuf__printf(b, " (%.2f of their %s of CFI)", (double)bytes / cfi,
				       text__bytes(cfi).s);
	}
	if (info__meta_u64(in, "unwind.load_ns", &ns))
		strbuf__printf(b, ", loaded in %s before recording", text__ns(ns).s);
	if (info__meta_u64(in, "unwind.evicted", &evicted) && evicted)
		strbuf__printf(b, "; %" PRIu64 " evicted", evicted);
	if (info__meta_u64(in, "unwind.refused", &refused) && refused)
		strbuf__printf(b, "; %" PRIu64 " found no room (--unwind-memory)", refused);
	strbuf__putc(b, '\n');
}

static void put_user_stacks(struct info *in)
{
	const char *mode = stk_reader__meta(in->rd.reader, "unwind.mode");
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;
	const struct reason *way;
	uint64_t not_kept;

	if (!a->ustacks && !a->c[STK_C_USTACK_NONE] && !a->c[STK_C_USTACK_NOT_RECORDED])
		return;
	put_label(in, "User stacks");
	strbuf__printf(b, "%s: ", text__number(a->ustacks).s);
	for (way = info_ustack_ways; way->name; way++)
		strbuf__printf(b, "%s%s", way > info_ustack_ways ? ", " : "",
			       share(a->c[way->counter], a->ustacks, way->name).s);
	strbuf__printf(b, "; none in %s", text__number(a->c[STK_C_USTACK_NONE]).s);
	if (a->c[STK_C_USTACK_NOT_RECORDED])
		strbuf__printf(b, "; not recorded in %s, of tasks that are not selected",
			       text__number(a->c[STK_C_USTACK_NOT_RECORDED]).s);
	strbuf__putc(b, '\n');
	put_shares(in, a, info_ustack_ends, a->ustacks);
	put_label(in, "User files");
	strbuf__printf(b, "%u%s", stk_reader__nr_files(in->rd.reader),
		       !mode		   ? "" :
		       !strcmp(mode, "fp") ? ", frames found by frame pointers" :
					     ", frames found by unwind tables");
	if (info__meta_u64(in, "unwind.not_kept", &not_kept) && not_kept)
		strbuf__printf(b, "; %" PRIu64 " not kept open", not_kept);
	strbuf__putc(b, '\n');
	put_tables(in);
}

static void put_samples(struct info *in)
{
	unsigned int i, k, nr = stk_reader__nr_types(in->rd.reader);
	struct strbuf *b = &in->out.b;
	struct account a;

	for (i = 0; i < nr; i++) {
		const struct stk_event_type *t = stk_reader__type(in->rd.reader, i);

		if (stk_event_type__kind(t) != STK_KIND_SAMPLE)
			continue;
		info__account(in, t, &a);
		if (!a.c[STK_C_RECORDED] && !a.c[STK_C_SAMPLE_EXPECTED])
			continue;
		put_label(in, "Samples");
		put_string(in, stk_event_type__name(t));
		for (k = 0; info_samples[k].name; k++)
			strbuf__printf(b, "%s%s %s", k ? ", " : ": ",
				       text__number(a.c[info_samples[k].counter]).s,
				       info_samples[k].name);
		strbuf__putc(b, '\n');
	}
}

/* "Full        tables: files 12, names 3": the tables that were full. */
static void put_full(struct info *in)
{
	const struct account *a = &in->total;
	const struct reason *r;
	bool any = false;

	for (r = info_full; r->name; r++) {
		if (!a->c[r->counter])
			continue;
		if (!any)
			put_label(in, "Full");
		strbuf__printf(&in->out.b, "%s%s %s", any ? ", " : "tables: ", r->name,
			       text__number(a->c[r->counter]).s);
		any = true;
	}
	strbuf__puts(&in->out.b, any ? "\n" : "");
}

static void put_sizes(struct info *in)
{
	struct strbuf *b = &in->out.b;

	if (!in->t.events)
		return;
	put_label(in, "Sizes");
	strbuf__printf(b, "%.2f bytes per event, %.2f of them for the events themselves",
		       (double)in->t.bytes / in->t.events,
		       (double)in->t.event_bytes / in->t.events);
	if (in->unique)
		strbuf__printf(b, "; each stack used %.1f times",
			       (double)((in->total.lookups + in->total.ustacks) ?: in->t.events) /
				       in->unique);
	strbuf__putc(b, '\n');
	if (in->t.late)
		strbuf__printf(b, "%s arrived late, out of order\n",
			       text__count(in->t.late, "event").s);
	if (in->t.bad_blocks)
		strbuf__printf(b, "%s skipped\n", text__count(in->t.bad_blocks, "damaged block").s);
}

/* The cost of recording. */
static void put_cost(struct info *in)
{
	unsigned int i, nr = stk_reader__nr_types(in->rd.reader);
	uint64_t bpf = 0, events = 0, cpu, start, maps, peak;
	double seconds = (in->t.last_ts - in->t.first_ts) / 1e9;
	struct strbuf *b = &in->out.b;
	struct account a;

	for (i = 0; i < nr; i++) {
		info__account(in, stk_reader__type(in->rd.reader, i), &a);
		bpf += info__cost(&a);
		events += a.c[STK_C_RECORDED];
	}
	if (!bpf || !events)
		return;
	put_label(in, "Cost");
	strbuf__printf(b, "%s in BPF programs (%s an event", text__ns(bpf).s,
		       text__ns(bpf / events).s);
	if (seconds > 0)
		strbuf__printf(b, ", %.2f%% of one CPU", bpf / 1e7 / seconds);
	strbuf__putc(b, ')');
	if (info__meta_u64(in, "cost.recorder_cpu_ns", &cpu) &&
	    info__meta_u64(in, "cost.start_cpu_ns", &start) && start <= cpu)
		strbuf__printf(b, ", recorder %s CPU and %s to start", text__ns(cpu - start).s,
			       text__ns(start).s);
	if (info__meta_u64(in, "cost.kernel_map_bytes", &maps))
		strbuf__printf(b, ", kernel memory %s", text__bytes(maps).s);
	if (info__meta_u64(in, "cost.recorder_peak_bytes", &peak))
		strbuf__printf(b, ", recorder %s", text__bytes(peak).s);
	strbuf__putc(b, '\n');
}

void info__put_text(struct info *in)
{
	put_what(in);
	put_accounting(in);
	put_stacks(in);
	put_kernel_unwind(in);
	put_user_stacks(in);
	put_samples(in);
	put_full(in);
	put_sizes(in);
	put_cost(in);
	if (in->verbose)
		put_all_meta(in);
}
