// SPDX-License-Identifier: GPL-2.0-only
/* stackonce list --presets: prints the presets and whether this machine can record them. */
#include "list.h"

#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "log.h"
#include "record/kernel/feature_table.h"
#include "record/kernel/tracefs.h"
#include "record/select/emulated.h"
#include "record/select/probe.h"
#include "ui/out.h"
#include "ui/presets.h"
#include "ui/ui.h"

struct machine {
	char **events; /* its tracepoints; NULL: unknown */
	size_t nr_events;
	bool has_probes; /* kernel functions can be probed */
};

static bool has_event(const struct machine *m, const char *name)
{
	size_t i;

	for (i = 0; i < m->nr_events && strcmp(m->events[i], name); i++)
		;
	return i < m->nr_events;
}

/* Why this machine cannot record the event; NULL if it can. */
static const char *why_unavailable(const struct machine *m, const struct preset_event *e)
{
	if (e->optional || has_event(m, e->spec))
		return NULL;
	if (!probe__is_spec(e->spec) && !emulated__find(e->spec))
		return "this kernel lacks it";
	return m->has_probes ? NULL : "kernel functions cannot be probed, see 'stackonce doctor'";
}

/* The first event of the preset that cannot be recorded, or NULL. */
static const struct preset_event *first_unavailable(const struct machine *m, const struct preset *p)
{
	const struct preset_event *e;

	for (e = p->events; e->spec; e++)
		if (why_unavailable(m, e))
			return e;
	return NULL;
}

/* The options of latency that the preset stands for. */
static void put_options(struct strbuf *b, const struct preset *p)
{
	const struct {
		const char *option, *value;
	} rows[] = { { "--start", p->start },
		     { "--end", p->end },
		     { "--match", p->match },
		     { "--by", p->by },
		     { "--start-if", p->start_if } };
	unsigned int i;

	if (!p->start)
		return;
	strbuf__printf(b, "%15s", "");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *quote = rows[i].value && strpbrk(rows[i].value, "*|&") ? "'" : "";

		if (rows[i].value)
			strbuf__printf(b, " %s %s%s%s", rows[i].option, quote, rows[i].value,
				       quote);
	}
	strbuf__puts(b, p->single ? " --single\n" : "\n");
}

static void put_json(struct json *j, const struct machine *m, const struct preset *p)
{
	const struct preset_event *e, *bad = m->events ? first_unavailable(m, p) : NULL;

	json__record(j, "preset");
	json__string(j, "name", p->name);
	json__string(j, "summary", p->summary);
	json__string(j, "answer", p->answer);
	json__string(j, "start", p->start);
	json__string(j, "end", p->end);
	json__string(j, "match", p->match);
	json__string(j, "by", p->by);
	json__string(j, "start_if", p->start_if);
	json__bool(j, "single", p->single);
	json__string(j, "needs_all", p->needs_all);
	json__bool(j, "user_stacks", p->user_stacks);
	if (m->events)
		json__bool(j, "recordable", !bad);
	else
		json__null(j, "recordable");
	json__string(j, "hindered_by", bad ? bad->spec : NULL);
	json__array(j, "events");
	for (e = p->events; e->spec; e++) {
		json__object(j, NULL);
		json__string(j, "event", e->spec);
		json__string(j, "filter", e->filter);
		json__bool(j, "optional", e->optional);
		json__end(j);
	}
	json__end(j);
	json__end(j);
}

static void put_text(struct out *out, const struct machine *m, const struct preset *p)
{
	const struct preset_event *bad = first_unavailable(m, p);
	struct strbuf *b = &out->b;

	strbuf__printf(b, "%s%-15s%s %s\n%16sstackonce %s\n", out__colour(out, OUT_HEAD), p->name,
		       out__colour(out, OUT_PLAIN), p->summary, "", p->answer);
	put_options(b, p);
	if (p->needs_all)
		strbuf__printf(b, "%16sneeds record -a: %s\n", "", p->needs_all);
	if (m->events && bad)
		strbuf__printf(b, "%s%16sunavailable on this machine: %s: %s%s\n",
			       out__colour(out, OUT_WARN), "", bad->spec, why_unavailable(m, bad),
			       out__colour(out, OUT_PLAIN));
}

int list__presets(struct out *out, const char *glob, bool json)
{
	struct machine m = { 0 };
	unsigned int i, nr = 0;

	/* Users without access to tracefs can still list the presets. */
	if (tracefs__events(&m.events, &m.nr_events)) {
		m = (struct machine){ 0 };
		log_warn("cannot read tracefs: whether this machine can record these is unknown");
	} else {
		m.has_probes = features__kprobe_multi() || features__kprobes();
	}
	for (i = 0; presets[i].name && !out__drain(out); i++) {
		if (glob && !globs__match(glob, presets[i].name))
			continue;
		nr++;
		if (json)
			put_json(&out->json, &m, &presets[i]);
		else
			put_text(out, &m, &presets[i]);
	}
	tracefs__free_events(m.events, m.nr_events);
	if (!nr)
		return log_why(-ENOENT,
			       "no preset matches '%s': 'stackonce list --presets' lists them all",
			       glob ?: "*");
	return 0;
}
