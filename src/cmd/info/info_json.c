// SPDX-License-Identifier: GPL-2.0-only
/* The info command's JSON; docs/json.md lists the members. */
#include "info.h"

#include <string.h>

#include "cleanup.h"

/* A member for each reason. */
static void json_counters(struct json *j, const struct account *a, const struct reason *reasons)
{
	unsigned int i;

	for (i = 0; reasons[i].name; i++)
		json__u64(j, reasons[i].name, a->c[reasons[i].counter]);
}

static void json_reasons(struct json *j, const char *key, const struct account *a,
			 const struct reason *reasons)
{
	json__object(j, key);
	json_counters(j, a, reasons);
	json__end(j);
}

static void json_account(struct info *in, const struct account *a)
{
	struct json *j = &in->out.json;

	info__put_columns(&in->out, a);
	json_reasons(j, "filtered_by", a, info_filtered_by);
	json_reasons(j, "lost_by", a, info_lost_by);
}

static void json_event(struct info *in, const struct stk_event_type *t)
{
	static const char *const kinds[] = { "tracepoint",    "syscall", "sample",  "function",
					     "user_function", "usdt",	 "emulated" };
	_cleanup_free_ char *name = event__full_name(t);
	unsigned int kind = stk_event_type__kind(t);
	enum witness witness = info__witness(in, t, name ?: "");
	struct json *j = &in->out.json;
	uint64_t compared;
	struct account a;
	uint64_t since;

	info__account(in, t, &a);
	json__object(j, NULL);
	json__string(j, "name", name ?: "");
	json__string(j, "kind", kind < ARRAY_SIZE(kinds) ? kinds[kind] : "unknown");
	json_account(in, &a);
	if (witness)
		json__string(j, "witness", info_witnesses[witness].name);
	json__u64(j, "fields_missing", a.c[STK_C_NO_FIELDS]);
	if (info__kernel_fields(in, name ?: "", &since))
		json__u64(j, "kernel_fields_since", since);
	if (info__fields_compared(in, name ?: "", &a, &compared))
		json_reasons(j, "fields_compared", &a, info_fields_checks);
	if (a.c[STK_C_COST_EVENTS] >= INFO_COST_MIN) {
		json__u64(j, "cost_ns", info__cost(&a));
		json__u64(j, "cost_measured", a.c[STK_C_COST_EVENTS]);
	}
	if (kind == STK_KIND_SAMPLE)
		json_reasons(j, "samples", &a, info_samples);
	json__string(j, "filter", stk_event_type__filter(t));
	json__end(j);
}

static void json_meta(struct info *in)
{
	struct json *j = &in->out.json;
	const char *key, *value;
	unsigned int i;

	json__object(j, "meta");
	for (i = 0; i < stk_reader__nr_meta(in->rd.reader); i++) {
		stk_reader__meta_at(in->rd.reader, i, &key, &value);
		json__name(j, key);
		json__string(j, NULL, value);
	}
	json__end(j);
}

static void json_stacks(struct info *in)
{
	const struct account *a = &in->total;
	struct json *j = &in->out.json;

	json__object(j, "stacks");
	json__u64(j, "unique", in->unique);
	json__u64(j, "duplicates", in->t.duplicates);
	json__u64(j, "nodes", in->t.nodes);
	json__u64(j, "lookups", a->lookups);
	json__u64(j, "hits", a->c[STK_C_STACK_HIT]);
	json__u64(j, "new", a->c[STK_C_STACK_NEW]);
	json__u64(j, "fallbacks", a->fallbacks);
	json_reasons(j, "fallback_by", a, info_fell_by);
	json_counters(j, a, info_stack_ends);
	json__end(j);
}

static void json_kernel_unwind(struct info *in)
{
	const char *by = stk_reader__meta(in->rd.reader, "kernel_unwind");
	const char *why = stk_reader__meta(in->rd.reader, "kernel_unwind.why");
	const struct account *a = &in->total;
	struct json *j = &in->out.json;

	if (!by)
		return;
	json__object(j, "kernel_unwind");
	json__string(j, "by", by);
	if (why)
		json__string(j, "why", why);
	json__u64(j, "walked", a->c[STK_C_WALKED]);
	json__u64(j, "remembered", a->c[STK_C_WALK_REMEMBERED]);
	json_reasons(j, "left", a, info_walk_left);
	json_reasons(j, "checks", a, info_walk_checks);
	json__end(j);
}

static void json_user_stacks(struct info *in)
{
	static const char *const keys[] = {
		"unwind.not_kept", "unwind.tables_loaded", "unwind.no_table",	"unwind.evicted",
		"unwind.refused",  "unwind.table_bytes",   "unwind.table_peak", "unwind.cfi_bytes",
		"unwind.load_ns",  "unwind.budget",
	};
	const char *mode = stk_reader__meta(in->rd.reader, "unwind.mode");
	const struct account *a = &in->total;
	struct json *j = &in->out.json;
	uint64_t v;
	size_t i;

	json__object(j, "user_stacks");
	json__u64(j, "stacks", a->ustacks);
	json__u64(j, "none", a->c[STK_C_USTACK_NONE]);
	json__u64(j, "not_recorded", a->c[STK_C_USTACK_NOT_RECORDED]);
	json_counters(j, a, info_ustack_ways);
	json_reasons(j, "ends", a, info_ustack_ends);
	json__u64(j, "files", stk_reader__nr_files(in->rd.reader));
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (info__meta_u64(in, keys[i], &v))
			json__u64(j, keys[i] + strlen("unwind."), v);
	if (mode)
		json__string(j, "mode", mode);
	json__end(j);
}

/* A recording of several. */
static void json_file(struct info *in, unsigned int i)
{
	const struct stk_reader *r = stk_reader__member(in->rd.reader, i);
	struct json *j = &in->out.json;
	struct stk_totals t;

	stk_reader__totals(r, &t);
	json__object(j, NULL);
	json__string(j, "file", in->rd.paths[i]);
	json__string(j, "ended", info__ended(in, r));
	json__string(j, "host", stk_reader__meta(r, "hostname"));
	json__string(j, "boot_id", stk_reader__meta(r, "boot_id"));
	json__string(j, "uuid", stk_reader__meta(r, "uuid"));
	json__u64(j, "bytes", t.bytes);
	json__end(j);
}

static void json_files(struct info *in)
{
	struct json *j = &in->out.json;
	unsigned int i;

	if (in->rd.nr_paths == 1)
		return;
	json__array(j, "files");
	for (i = 0; i < in->rd.nr_paths; i++)
		json_file(in, i);
	json__end(j);
}

void info__put_json(struct info *in)
{
	unsigned int i, nr = stk_reader__nr_types(in->rd.reader);
	struct json *j = &in->out.json;

	json__record(j, "info");
	json__string(j, "file", in->rd.paths[0]);
	json_files(in);
	json__string(j, "ended", info__ended(in, NULL));
	json__bool(j, "accounted", in->accounted);
	json__object(j, "totals");
	json_account(in, &in->total);
	json__end(j);
	json__array(j, "events");
	for (i = 0; i < nr; i++)
		json_event(in, stk_reader__type(in->rd.reader, i));
	json__end(j);
	json_stacks(in);
	json_kernel_unwind(in);
	json_user_stacks(in);
	json_reasons(j, "full_tables", &in->total, info_full);
	json__u64(j, "events_in_file", in->t.events);
	json__u64(j, "bytes", in->t.bytes);
	json__u64(j, "event_bytes", in->t.event_bytes);
	json__real(j, "bytes_per_event", in->t.events ? (double)in->t.bytes / in->t.events : 0, 3);
	json__u64(j, "first_ts", in->t.first_ts);
	json__u64(j, "last_ts", in->t.last_ts);
	json__u64(j, "late", in->t.late);
	json__u64(j, "bad_blocks", in->t.bad_blocks);
	json_meta(in);
	json__end(j);
}
