// SPDX-License-Identifier: GPL-2.0-only
/* export perfetto: a trace for ui.perfetto.dev and trace_processor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "formats.h"
#include "log.h"
#include "losses.h"
#include "perfetto_priv.h"
#include "query/metadata.h"
#include "text.h"

#define INTERNED_BEGIN 1
#define CLOCK_ID_REALTIME 1
#define CLOCK_ID_MONOTONIC 3
#define CLOCK_ID_BOOTTIME 6
#define COUNTER_CPU_CLOCK 1

struct perfetto {
	const struct export_source *src;
	struct pf_out out;
	struct pf_intern intern;
	struct pf_tasks tasks;
	struct pf_events events;
	struct pf_slices slices;
	uint64_t nr_events, nr_lost; /* of the lost ones, those whose number is known */
	uint64_t last_ts;
	uint64_t nr_pairs;
	bool has_head;
};

static void perfetto__free(struct perfetto **pf)
{
	if (!*pf)
		return;
	pf_slices__free(&(*pf)->slices);
	pf_events__free(&(*pf)->events);
	pf_tasks__free(&(*pf)->tasks);
	pf_intern__free(&(*pf)->intern);
	pf_out__free(&(*pf)->out);
	free(*pf);
}

/* ---- the head of the trace ------------------------------------------------------------------- */

static void put_begin(struct perfetto *pf)
{
	Pf__TracePacket p = pf_packet(NULL);
	Pf__TracePacketDefaults defaults = PF__TRACE_PACKET_DEFAULTS__INIT;
	Pf__PerfSampleDefaults samples = PF__PERF_SAMPLE_DEFAULTS__INIT;
	Pf__Timebase timebase = PF__TIMEBASE__INIT;

	p.sequence_flags = INTERNED_BEGIN;
	PF_SET(&timebase, counter, COUNTER_CPU_CLOCK);
	timebase.name = "samples";
	samples.timebase = &timebase;
	defaults.perf_sample_defaults = &samples;
	p.trace_packet_defaults = &defaults;
	pf_out__packet(&pf->out, &p, 0);
}

static void put_system(struct perfetto *pf)
{
	Pf__TracePacket p = pf_packet(NULL);
	Pf__SystemInfo info = PF__SYSTEM_INFO__INIT;
	Pf__Utsname uts = PF__UTSNAME__INIT;
	_cleanup_(strbuf__free) struct strbuf release = { 0 }, machine = { 0 };

	strbuf__text(&release, stk_reader__meta(pf->src->reader, "kernel.release") ?: "");
	strbuf__text(&machine, stk_reader__meta(pf->src->reader, "machine") ?: "");
	if (strbuf__failed(&release) || strbuf__failed(&machine))
		pf_out__fail(&pf->out, -ENOMEM);
	uts.sysname = "Linux";
	uts.release = release.s;
	uts.machine = machine.s;
	info.utsname = &uts;
	p.system_info = &info;
	pf_out__packet(&pf->out, &p, 0);
}

/*
 * All times are given as those of the boot clock, which Perfetto's traces have, so that they are
 * the numbers of the recording.  A recording does not say how far its clock is from that of the
 * boot.
 */
static void put_clocks(struct perfetto *pf)
{
	const struct stk_reader *r = pf->src->reader;
	const char *clock = stk_reader__meta(r, "clock");
	Pf__TracePacket p = pf_packet(NULL);
	Pf__ClockSnapshot snapshot = PF__CLOCK_SNAPSHOT__INIT;
	Pf__Clock clocks[3] = { PF__CLOCK__INIT, PF__CLOCK__INIT, PF__CLOCK__INIT };
	Pf__Clock *list[] = { &clocks[0], &clocks[1], &clocks[2] };
	struct wall_clock wall;

	if (!wall_clock__of(r, &wall))
		return;
	if (!wall.wall_ns)
		wall.ts = wall.wall_ns = 1; /* the same, and a time */
	PF_SET(&clocks[0], clock_id, CLOCK_ID_BOOTTIME);
	PF_SET(&clocks[0], timestamp, wall.ts);
	PF_SET(&clocks[1], clock_id, CLOCK_ID_REALTIME);
	PF_SET(&clocks[1], timestamp, wall.wall_ns);
	snapshot.n_clocks = 2;
	if (clock && !strcmp(clock, "mono")) {
		PF_SET(&clocks[2], clock_id, CLOCK_ID_MONOTONIC);
		PF_SET(&clocks[2], timestamp, wall.ts);
		snapshot.n_clocks++;
	}
	snapshot.clocks = list;
	p.clock_snapshot = &snapshot;
	pf_out__packet(&pf->out, &p, 0);
}

/* Once the first event was read, the metadata are known. */
static void put_head(struct perfetto *pf)
{
	pf->has_head = true;
	put_begin(pf);
	put_system(pf);
	put_clocks(pf);
	pf_tasks__list(&pf->tasks);
}

/* ---- the run --------------------------------------------------------------------------------- */

static int take_pair(void *ctx, const struct export_pair *pair)
{
	struct perfetto *pf = ctx;

	/* The event that ends the first pair may come before the first that is exported. */
	if (!pf->has_head)
		put_head(pf);
	pf->nr_pairs++;
	return pf_slices__add_pair(&pf->slices, pair);
}

/* Perfetto's own account of what was lost on a CPU has no times; a slice has. */
static int put_losses(struct perfetto *pf, uint64_t until)
{
	struct stk_loss loss;
	int n, err = 0;

	while (!err && (n = export_source__next_loss(pf->src, until, &loss)) == 1) {
		if (!pf->has_head)
			put_head(pf);
		if (!loss_is_skipped(&loss)) {
			pf->nr_lost += loss.count;
			pf_events__note_loss(&pf->events, &loss);
		}
		err = pf_slices__add_loss(&pf->slices, &loss, pf->last_ts);
	}
	return err ?: MIN(n, 0);
}

/* *ret_damage: how reading ended; what was read before is exported. */
static int put_events(struct perfetto *pf, int *ret_damage)
{
	const struct stk_event *e;
	int n, err = 0;

	while (!err && (n = export_source__next(pf->src, &e)) > 0) {
		if (!pf->has_head)
			put_head(pf);
		pf->nr_events++;
		pf->last_ts = MAX(pf->last_ts, stk_event__ts(e));
		err = put_losses(pf, stk_event__ts(e))	     ?:
			      pf_events__add(&pf->events, e) ?:
							       pf->out.err;
	}
	if (err)
		return err;
	*ret_damage = n;
	/* once the budget is exhausted, nothing more is read */
	err = n == -ENOBUFS ? 0 : put_losses(pf, UINT64_MAX);
	if (!pf->has_head)
		put_head(pf);
	pf_events__put_losses(&pf->events);
	return err;
}

static int perfetto__new(const struct export_source *src, const struct output *output,
			 struct perfetto **ret_pf)
{
	struct perfetto *pf = calloc(1, sizeof(*pf));

	if (!pf)
		return -ENOMEM;
	pf->src = src;
	pf->intern.out = pf->tasks.out = pf->events.out = &pf->out;
	pf->intern.src = src;
	pf->tasks.reader = pf->events.reader = src->reader;
	pf->events.intern = &pf->intern;
	pf->events.tasks = pf->slices.tasks = &pf->tasks;
	pf->slices.out = &pf->out;
	pf->slices.intern = &pf->intern;
	pf->slices.reader = src->reader;
	if (src->pairs)
		*src->pairs = (struct export_pairs){ .take = take_pair, .ctx = pf };
	*ret_pf = pf;
	return pf_out__init(&pf->out, output);
}

static void put_summary(const struct perfetto *pf, struct strbuf *summary)
{
	strbuf__printf(summary, "%s, %s", text__count(pf->nr_events, "event").s,
		       text__count(pf->intern.nr_stacks, "stack").s);
	if (pf->nr_pairs)
		strbuf__printf(summary, ", %s", text__count(pf->nr_pairs, "pair").s);
	if (pf->nr_lost)
		strbuf__printf(summary, ", %s lost", text__number(pf->nr_lost).s);
	if (pf->slices.left_out)
		log_warn("left out %s, with more than %u at the same time",
			 text__count(pf->slices.left_out, "slice").s, PF_MAX_LANES);
}

int export__perfetto(const struct export_source *src, const struct output_opts *opts,
		     struct strbuf *summary)
{
	_cleanup_(output__freep) struct output *output = NULL;
	_cleanup_(perfetto__free) struct perfetto *pf = NULL;
	int damage, err;

	err = output__open(opts, &output);
	if (err)
		return err;
	err = perfetto__new(src, output, &pf) ?: put_events(pf, &damage);
	if (!err && damage == -ECANCELED)
		return damage;
	err = err ?: pf_out__finish(&pf->out);
	if (err)
		return export__failed(src->reader, opts->path, err);
	err = output__commit(output);
	if (err)
		return err;
	put_summary(pf, summary);
	return damage;
}
