// SPDX-License-Identifier: GPL-2.0-only
/* The info command's JSON; the names are listed in stackonce-info(1). */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"

static void json_counts(struct strbuf *b, const struct account *a)
{
	strbuf__printf(b,
		       "\"happened\":%" PRIu64 ",\"recorded\":%" PRIu64 ",\"filtered\":%" PRIu64
		       ",\"lost\":%" PRIu64,
		       a->c[STK_C_HAPPENED], a->c[STK_C_RECORDED], a->filtered, a->lost);
}

/* "key":{"reason":n,...} */
static void json_reasons(struct strbuf *b, const char *key, const struct account *a,
			 const struct reason *reasons)
{
	unsigned int i;

	strbuf__printf(b, ",\"%s\":{", key);
	for (i = 0; reasons[i].name; i++)
		strbuf__printf(b, "%s\"%s\":%" PRIu64, i ? "," : "", reasons[i].name,
			       a->c[reasons[i].counter]);
	strbuf__putc(b, '}');
}

static void json_event(struct info *in, const struct stk_event_type *t)
{
	static const char *const kinds[] = { "tracepoint",    "syscall", "sample",   "function",
					     "user_function", "usdt",	 "synthetic" };
	_cleanup_free_ char *name = event__full_name(t);
	unsigned int kind = stk_event_type__kind(t);
	const char *filter = stk_event_type__filter(t);
	struct strbuf *b = &in->out.b;
	struct account a;

	info__account(in, t, &a);
	strbuf__puts(b, "{\"name\":");
	out__json(b, name ?: "", strlen(name ?: ""));
	strbuf__printf(b, ",\"kind\":\"%s\",", kind < ARRAY_SIZE(kinds) ? kinds[kind] : "unknown");
	json_counts(b, &a);
	json_reasons(b, "filtered_by", &a, info_filtered_by);
	json_reasons(b, "lost_by", &a, info_lost_by);
	strbuf__printf(b, ",\"fields_missing\":%" PRIu64, a.c[STK_C_NO_FIELDS]);
	if (a.c[STK_C_COST_EVENTS] >= INFO_COST_MIN)
		strbuf__printf(b, ",\"cost_ns\":%" PRIu64 ",\"cost_measured\":%" PRIu64,
			       info__cost(&a), a.c[STK_C_COST_EVENTS]);
	if (kind == STK_KIND_SAMPLE)
		json_reasons(b, "samples", &a, info_samples);
	strbuf__puts(b, ",\"filter\":");
	out__json(b, filter, strlen(filter));
	strbuf__putc(b, '}');
}

static void json_meta(struct info *in)
{
	struct strbuf *b = &in->out.b;
	const char *key, *value;
	unsigned int i;

	strbuf__puts(b, ",\"meta\":{");
	for (i = 0; i < stk_reader__nr_meta(in->rd.reader); i++) {
		stk_reader__meta_at(in->rd.reader, i, &key, &value);
		if (i)
			strbuf__putc(b, ',');
		out__json(b, key, strlen(key));
		strbuf__putc(b, ':');
		out__json(b, value, strlen(value));
	}
	strbuf__putc(b, '}');
}

static void json_stacks(struct info *in)
{
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;
	unsigned int i;

	strbuf__printf(b,
		       ",\"stacks\":{\"unique\":%" PRIu64 ",\"duplicates\":%" PRIu64
		       ",\"nodes\":%" PRIu64 ",\"lookups\":%" PRIu64 ",\"hits\":%" PRIu64
		       ",\"new\":%" PRIu64 ",\"fallbacks\":%" PRIu64,
		       in->unique, in->t.duplicates, in->t.nodes, a->lookups, a->c[STK_C_STACK_HIT],
		       a->c[STK_C_STACK_NEW], a->fallbacks);
	json_reasons(b, "fallback_by", a, info_fell_by);
	for (i = 0; info_stack_ends[i].name; i++)
		strbuf__printf(b, ",\"%s\":%" PRIu64, info_stack_ends[i].name,
			       a->c[info_stack_ends[i].counter]);
	strbuf__putc(b, '}');
}

static void json_kernel_unwind(struct info *in)
{
	const char *by = stk_reader__meta(in->rd.reader, "kernel_unwind");
	const char *why = stk_reader__meta(in->rd.reader, "kernel_unwind.why");
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;

	if (!by)
		return;
	strbuf__puts(b, ",\"kernel_unwind\":{\"by\":");
	out__json(b, by, strlen(by));
	if (why) {
		strbuf__puts(b, ",\"why\":");
		out__json(b, why, strlen(why));
	}
	strbuf__printf(b, ",\"walked\":%" PRIu64, a->c[STK_C_WALKED]);
	strbuf__printf(b, ",\"remembered\":%" PRIu64, a->c[STK_C_WALK_REMEMBERED]);
	json_reasons(b, "left", a, info_walk_left);
	json_reasons(b, "checks", a, info_walk_checks);
	strbuf__putc(b, '}');
}

static void json_user_stacks(struct info *in)
{
	static const char *const keys[] = { "tables_loaded", "no_table",  "evicted", "table_bytes",
					    "table_peak",    "cfi_bytes", "load_ns", "budget" };
	const char *mode = stk_reader__meta(in->rd.reader, "unwind.mode");
	const struct account *a = &in->total;
	struct strbuf *b = &in->out.b;
	char key[32];
	uint64_t v;
	size_t i;

	strbuf__printf(b, ",\"user_stacks\":{\"stacks\":%" PRIu64 ",\"none\":%" PRIu64, a->ustacks,
		       a->c[STK_C_USTACK_NONE]);
	for (i = 0; info_ustack_ways[i].name; i++)
		strbuf__printf(b, ",\"%s\":%" PRIu64, info_ustack_ways[i].name,
			       a->c[info_ustack_ways[i].counter]);
	json_reasons(b, "ends", a, info_ustack_ends);
	strbuf__printf(b, ",\"files\":%u", stk_reader__nr_files(in->rd.reader));
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(key, sizeof(key), "unwind.%s", keys[i]);
		if (info__meta_u64(in, key, &v))
			strbuf__printf(b, ",\"%s\":%" PRIu64, keys[i], v);
	}
	if (mode) {
		strbuf__puts(b, ",\"mode\":");
		out__json(b, mode, strlen(mode));
	}
	strbuf__putc(b, '}');
}

void info__put_json(struct info *in)
{
	unsigned int i, nr = stk_reader__nr_types(in->rd.reader);
	struct strbuf *b = &in->out.b;

	strbuf__puts(b, "{\"file\":");
	out__json(b, in->rd.path, strlen(in->rd.path));
	strbuf__printf(b, ",\"ended\":\"%s\",\"accounted\":%s,\"totals\":{", info__ended(in),
		       in->accounted ? "true" : "false");
	json_counts(b, &in->total);
	json_reasons(b, "filtered_by", &in->total, info_filtered_by);
	json_reasons(b, "lost_by", &in->total, info_lost_by);
	strbuf__puts(b, "},\"events\":[");
	for (i = 0; i < nr; i++) {
		if (i)
			strbuf__putc(b, ',');
		json_event(in, stk_reader__type(in->rd.reader, i));
	}
	strbuf__putc(b, ']');
	json_stacks(in);
	json_kernel_unwind(in);
	json_user_stacks(in);
	strbuf__printf(b,
		       ",\"events_in_file\":%" PRIu64 ",\"bytes\":%" PRIu64
		       ",\"event_bytes\":%" PRIu64 ",\"bytes_per_event\":%.3f,\"first_ts\":%" PRIu64
		       ",\"last_ts\":%" PRIu64 ",\"late\":%" PRIu64 ",\"bad_blocks\":%" PRIu64,
		       in->t.events, in->t.bytes, in->t.event_bytes,
		       in->t.events ? (double)in->t.bytes / in->t.events : 0.0, in->t.first_ts,
		       in->t.last_ts, in->t.late, in->t.bad_blocks);
	json_meta(in);
	strbuf__puts(b, "}\n");
}
