// SPDX-License-Identifier: GPL-2.0-only
/*
 * export firefox: a profile for profiler.firefox.com, in its "processed profile format".  What is
 * known only at the end, such as names and when the first event was, is written then; all columns
 * of a thread follow each other.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "firefox_priv.h"
#include "formats.h"
#include "log.h"
#include "query/metadata.h"

/*
 * The version of the format, CHANGELOG-formats.md.  What reads it upgrades older ones, for at least
 * three years, and refuses newer ones.
 */
#define FORMAT_VERSION 70
#define GECKO_VERSION 33 /* of Firefox's own format: it must be there, and is not used */
#define PIECE 65536 /* bytes written at once */
#define MS_NS 1000000u
#define SECOND_NS 1000000000ull

struct firefox {
	const struct export_source *src;
	struct ff_out out;
	struct ff_frames frames;
	struct ff_types types;
	struct ff_threads threads;
	struct ff_intervals intervals;
	struct strbuf data; /* of a marker */
	uint64_t no_stack; /* events */
};

/* ---- the file -------------------------------------------------------------------------------- */

static int drain(struct ff_out *o, size_t piece)
{
	int err = 0;

	if (strbuf__failed(&o->text))
		return -ENOMEM;
	if (o->text.len >= piece && o->text.len) {
		err = output__write(o->output, o->text.s, o->text.len);
		strbuf__reset(&o->text);
	}
	return err;
}

int ff_out__drain(struct ff_out *o)
{
	return o->text.len < PIECE && !strbuf__failed(&o->text) ? 0 : drain(o, PIECE);
}

int ff_out__finish(struct ff_out *o)
{
	return drain(o, 0);
}

void ff_put_ms(struct strbuf *b, uint64_t ns)
{
	char digits[7] = ".000000";
	uint32_t rest = ns % MS_NS;
	unsigned int i, len = sizeof(digits);

	strbuf__u64(b, ns / MS_NS);
	if (!rest)
		return;
	for (i = sizeof(digits) - 1; i; i--, rest /= 10)
		digits[i] += rest % 10;
	while (digits[len - 1] == '0')
		len--;
	strbuf__add(b, digits, len);
}

void ff_put_joined(struct json *j, const char *key, const char *a, const char *b)
{
	_cleanup_(strbuf__free) struct strbuf text = { 0 };

	strbuf__puts(&text, a);
	strbuf__puts(&text, b);
	j->out->failed |= strbuf__failed(&text);
	json__bytes(j, key, text.s ?: "", text.len);
}

/* ---- the head of the profile ----------------------------------------------------------------- */

struct category {
	const char *name, *color, *subcategories[4];
};

/* By enum ff_category.  The first grey one is what has no category. */
static const struct category categories[] = {
	[FF_OTHER] = { "Other", "grey", { "Other" } },
	[FF_KERNEL] = { "Kernel", "orange", { "Other", "Module", "BPF" } },
	[FF_USER] = { "User", "yellow", { "Other" } },
	[FF_JIT] = { "JIT", "green", { "Other" } },
	[FF_IDLE] = { "Idle", "transparent", { "Other" } },
	[FF_EVENTS] = { "Events", "lightblue", { "Other" } },
	[FF_PAIRS] = { "Pairs", "purple", { "Other" } },
	[FF_LOSSES] = { "Lost events", "red", { "Other" } },
};

static void put_categories(struct json *j)
{
	size_t i, k;

	json__array(j, "categories");
	for (i = 0; i < ARRAY_SIZE(categories); i++) {
		json__object(j, NULL);
		json__string(j, "name", categories[i].name);
		json__string(j, "color", categories[i].color);
		json__array(j, "subcategories");
		for (k = 0; categories[i].subcategories[k]; k++)
			json__string(j, NULL, categories[i].subcategories[k]);
		json__end(j);
		json__end(j);
	}
	json__end(j);
}

/* Where time 0 of the profile, the first event, is on other clocks. */
static void put_start(const struct firefox *ff, uint64_t zero, struct json *j)
{
	const struct stk_reader *r = ff->src->reader;
	const char *clock = stk_reader__meta(r, "clock") ?: "";
	struct wall_clock wall;
	uint64_t start = 0;

	if (wall_clock__of(r, &wall) && wall.wall_ns - wall.ts + zero <= INT64_MAX)
		start = wall.wall_ns - wall.ts + zero;
	ff_put_ms(json__value(j, "startTime"), start);
	if (!strcmp(clock, "mono"))
		json__u64(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", zero);
}

/* The period of timer samples, which the profiler takes for the width of all samples. */
static uint64_t interval_ns(const struct export_stacks *stacks)
{
	uint64_t hz = export_stacks__sample_hz(stacks);

	return hz && hz <= SECOND_NS ? SECOND_NS / hz : MS_NS;
}

static void put_meta(const struct firefox *ff, const char *key, const char *name, struct json *j)
{
	const char *value = stk_reader__meta(ff->src->reader, name);

	if (value)
		json__string(j, key, value);
}

static void put_release(const struct firefox *ff, struct json *j)
{
	const char *release = stk_reader__meta(ff->src->reader, "kernel.release");

	ff_put_joined(j, "oscpu", release ? "Linux " : "Linux", release ?: "");
}

static int put_head(struct firefox *ff, const struct export_stacks *stacks)
{
	struct json *j = &ff->out.json;
	uint64_t cpus, zero = ff->threads.first_ts, interval = interval_ns(stacks);
	int err;

	json__object(j, "meta");
	ff_put_ms(json__value(j, "interval"), interval);
	put_start(ff, zero, j);
	json__u64(j, "profilingStartTime", 0);
	/* What is at the end is left out: the last sample must be before it. */
	ff_put_ms(json__value(j, "profilingEndTime"), ff->threads.last_ts - zero + interval);
	json__u64(j, "processType", 0);
	json__string(j, "product", stk_reader__meta(ff->src->reader, "hostname") ?: "stackonce");
	json__string(j, "importedFrom", "stackonce");
	json__u64(j, "stackwalk", 1);
	json__u64(j, "version", GECKO_VERSION);
	json__u64(j, "preprocessedProfileVersion", FORMAT_VERSION);
	json__bool(j, "symbolicated", true);
	json__bool(j, "usesOnlyOneStackType", true);
	json__bool(j, "sourceCodeIsNotOnSearchfox", true);
	json__string(j, "platform", "Linux");
	put_release(ff, j);
	put_meta(ff, "abi", "machine", j);
	put_meta(ff, "arguments", "cmdline", j);
	if (metadata__u64(ff->src->reader, "cpus", &cpus))
		json__u64(j, "logicalCPUs", cpus);
	put_categories(j);
	json__array(j, "markerSchema");
	err = ff_types__put_schemas(&ff->types, &ff->out);
	ff_intervals__put_schemas(&ff->intervals, j);
	json__end(j);
	json__end(j);
	return err;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool is_sample(const struct stk_event *e)
{
	return stk_event_type__kind(stk_event__type(e)) == STK_KIND_SAMPLE;
}

static int add_event(struct firefox *ff, const struct stk_event *e)
{
	struct ff_marker marker = { .ts = stk_event__ts(e),
				    .end = FF_INSTANT,
				    .category = FF_EVENTS };
	struct stack_place place;
	uint32_t stack;
	int n = ff->src->place(ff->src->ctx, e, &place), err;

	if (n <= 0)
		return n;
	err = ff_intervals__note(&ff->intervals, e, place.group);
	err = err ?: ff_frames__stack(&ff->frames, place.kstack, place.ustack, &stack);
	if (!err && stack != FF_NONE)
		err = ff_threads__add_sample(&ff->threads, place.group, marker.ts, place.weight,
					     stack);
	ff->no_stack += stack == FF_NONE;
	if (err || is_sample(e))
		return err;
	err = ff_types__put_data(&ff->types, e, stack, &ff->data, &marker.name);
	return err ?: ff_threads__add_marker(&ff->threads, place.group, &marker, &ff->data);
}

/* *ret_damage: how reading ended; what was read before is exported. */
static int read_events(struct firefox *ff, int *ret_damage)
{
	const struct stk_event *e;
	int n, err = 0;

	while (!err && (n = export_source__next(ff->src, &e)) > 0) {
		err = ff_intervals__add_losses(&ff->intervals, stk_event__ts(e));
		err = err ?: add_event(ff, e);
	}
	if (err)
		return err;
	*ret_damage = n;
	/* once the budget is exhausted, nothing more is read */
	return n == -ENOBUFS ? 0 : ff_intervals__add_losses(&ff->intervals, UINT64_MAX);
}

static int take_pair(void *ctx, const struct export_pair *pair)
{
	struct firefox *ff = ctx;

	return ff_intervals__add_pair(&ff->intervals, pair);
}

static int write_file(struct firefox *ff, const struct export_stacks *stacks)
{
	struct json *j = &ff->out.json;
	int err;

	if (ff->threads.first_ts == UINT64_MAX) /* there is nothing */
		ff->threads.first_ts = 0;
	json__object(j, NULL);
	err = put_head(ff, stacks);
	err = err ?: ff_threads__put(&ff->threads, stacks, &ff->out);
	err = err ?: ff_frames__put(&ff->frames, &ff->out);
	json__end(j);
	return err ?: ff_out__finish(&ff->out);
}

static void put_summary(const struct firefox *ff, const struct export_stacks *stacks,
			struct strbuf *summary)
{
	strbuf__printf(summary, "%" PRIu64 " sample%s and %" PRIu64 " marker%s in %u thread%s",
		       ff->threads.nr_samples, ff->threads.nr_samples == 1 ? "" : "s",
		       ff->threads.nr_markers, ff->threads.nr_markers == 1 ? "" : "s",
		       stacks->nr_groups, stacks->nr_groups == 1 ? "" : "s");
	if (ff->intervals.nr_pairs)
		strbuf__printf(summary, ", %" PRIu64 " pair%s", ff->intervals.nr_pairs,
			       ff->intervals.nr_pairs == 1 ? "" : "s");
	if (ff->intervals.nr_lost)
		strbuf__printf(summary, ", %" PRIu64 " lost", ff->intervals.nr_lost);
	export_stacks__put_left_out(stacks, ff->no_stack, summary);
}

/* *ret_damage: how reading ended; what was read before is written. */
static int run(struct firefox *ff, struct strbuf *summary, int *ret_damage)
{
	struct export_stacks stacks;
	int err = ff_frames__start(&ff->frames) ?: read_events(ff, ret_damage);

	if (!err && *ret_damage == -ECANCELED)
		err = -ECANCELED;
	err = err ?: export_source__count(ff->src, &stacks);
	err = err ?: write_file(ff, &stacks);
	if (!err)
		put_summary(ff, &stacks, summary);
	return err;
}

static struct firefox *firefox__new(const struct export_source *src, const struct output *output)
{
	struct firefox *ff = calloc(1, sizeof(*ff));

	if (!ff)
		return NULL;
	ff->src = ff->frames.src = src;
	ff->out.output = ff->threads.spill.output = output;
	ff->out.json.out = &ff->out.text;
	ff->threads.src = src;
	ff->types.frames = ff->intervals.frames = &ff->frames;
	ff->intervals.src = src;
	ff->intervals.threads = &ff->threads;
	if (src->pairs)
		*src->pairs = (struct export_pairs){ .take = take_pair, .ctx = ff };
	ff->types.by_thread = src->by_thread;
	ff->types.by_cpu = src->by_cpu;
	ff->threads.first_ts = UINT64_MAX;
	return ff;
}

static void firefox__free(struct firefox **ff)
{
	if (!*ff)
		return;
	ff_intervals__free(&(*ff)->intervals);
	ff_threads__free(&(*ff)->threads);
	ff_types__free(&(*ff)->types);
	ff_frames__free(&(*ff)->frames);
	strbuf__free(&(*ff)->out.text);
	strbuf__free(&(*ff)->data);
	free(*ff);
}

int export__firefox(const struct export_source *src, const struct output_opts *opts,
		    struct strbuf *summary)
{
	_cleanup_(output__freep) struct output *output = NULL;
	_cleanup_(firefox__free) struct firefox *ff = NULL;
	int damage, err = output__open(opts, &output);

	if (err)
		return err;
	ff = firefox__new(src, output);
	err = ff ? run(ff, summary, &damage) : -ENOMEM;
	if (err && err != -ECANCELED)
		export__failed(src->reader, opts->path, err);
	return err ?: output__commit(output) ?: damage;
}
