// SPDX-License-Identifier: GPL-2.0-only
/* The BPF backend: combines programs.h, bpf_drain.h and user_files.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_drain.h"
#include "cleanup.h"
#include "frame.h"
#include "log.h"
#include "old_way.h"
#include "pending_losses.h"
#include "programs.h"
#include "record/backend.h"
#include "record/files/table_store.h"
#include "record/files/user_files.h"
#include "record/memory.h"
#include "record/meta.h"
#include "record/opts.h"
#include "record/phases.h"
#include "record/select/rec_event.h"
#include "stackonce.h"
#include "strbuf.h"
#include "symbols/ksyms.h"
#include "text.h"
#include "trace/write/writer.h"

struct bpf_backend {
	struct backend base;
	const struct recorder_opts *opts;
	struct programs *programs;
	struct programs_user user; /* of user stacks */
	struct table_store *store; /* NULL: no tables are kept */
	struct user_files *files; /* NULL: no user stacks */
	struct bpf_drain *drain;
	struct pending_losses *losses;
	struct stk_writer *w;
	uint64_t armed_ts;
	uint64_t previous_ts, counters_ts; /* when the last two calls of counters() began */
	uint64_t *written; /* by event: unseen losses that are in the recording */
};

static struct bpf_backend *to_bpf_backend(const struct backend *b)
{
	return (struct bpf_backend *)b;
}

/* ---- task selection -------------------------------------------------------------------------- */

static int select_thread(void *ctx, pid_t tid)
{
	struct bpf_backend *b = ctx;

	programs__select(b->programs, tid);
	return 0;
}

static int hold(void *ctx, pid_t child)
{
	struct bpf_backend *b = ctx;

	programs__hold(b->programs, child);
	return 0;
}

static void in_child(void *ctx)
{
	struct bpf_backend *b = ctx;

	programs__restore_limits(b->programs);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void bpf_free(struct backend *base)
{
	struct bpf_backend *b = to_bpf_backend(base);

	if (!b)
		return;
	bpf_drain__free(b->drain);
	user_files__free(b->files);
	table_store__free(b->store);
	pending_losses__free(b->losses);
	free(b->written);
	programs__free(b->programs);
	free(b);
}

/* Loads the unwind tables of all running programs before the first event. */
static int open_files(struct bpf_backend *b)
{
	struct table_store_stats ts;
	struct user_files_opts fo;
	int err;

	programs__user(b->programs, &b->user);
	if (!b->user.files)
		return 0;
	if (b->opts->cache && programs__memory(b->programs)->tables)
		b->store = table_store__new(b->opts->cache);
	fo = (struct user_files_opts){
		.entries = b->user.files,
		.ctl = b->user.ctl,
		.file_ring_fds = b->user.file_ring_fds,
		.nr_cpus = programs__nr_cpus(b->programs),
		.slabs_fd = b->user.slabs_fd,
		.snapshot_fd = b->user.snapshot_fd,
		.table_budget = programs__memory(b->programs)->tables,
		.store = b->store,
	};
	err = user_files__new(&fo, &b->files);
	if (err)
		return log_err(err, "create the file map");
	err = user_files__snapshot(b->files);
	table_store__stats(b->store, &ts);
	if (b->store)
		log_debug("unwind tables: %u from the cache, %u converted, %u kept", ts.found,
			  ts.converted, ts.added);
	return err ? log_err(err, "read the mappings of running processes") : 0;
}

/* Unwind tables are loaded while the kernel verifies programs. */
static int bpf_open(const struct recorder_opts *opts, struct backend **ret_backend)
{
	struct bpf_backend *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return log_err(-ENOMEM, "allocate the BPF backend");
	b->opts = opts;
	b->base.ops = &backend_bpf;
	b->base.selection = (struct target_selection){
		.ctx = b,
		.select = select_thread,
		.hold = hold,
		.in_child = in_child,
	};
	err = programs__new(opts, &b->programs);
	err = err ?: open_files(b);
	phases__part(opts->phases, "unwind tables of running programs");
	err = err ?: programs__attach(b->programs);
	if (err) {
		bpf_free(&b->base);
		return err;
	}
	*ret_backend = &b->base;
	return 0;
}

static int open_losses(struct bpf_backend *b)
{
	unsigned int nr = b->opts->events->nr;
	struct event_counts *counts;
	uint32_t *loss_pending;
	int err;

	programs__losses(b->programs, &counts, &loss_pending);
	b->written = calloc(MAX(nr, 1u), sizeof(*b->written));
	err = b->written ? pending_losses__new(counts, loss_pending, nr,
					       programs__nr_cpus(b->programs), &b->losses) :
			   -ENOMEM;
	return err ? log_err(err, "allocate the table of losses") : 0;
}

static int kernel_unwind_meta(struct bpf_backend *b)
{
	const char *why = programs__kernel_walk_reason(b->programs);
	int err = 0;

	if (!b->opts->kernel_stacks)
		return 0;
	err = stk_writer__meta(b->w, "kernel_unwind",
			       why ? "kernel" : programs__unwinder(b->programs));
	return err || !why ? err : stk_writer__meta(b->w, "kernel_unwind.why", why);
}

static int bpf_set_writer(struct backend *base, struct stk_writer *w)
{
	struct bpf_backend *b = to_bpf_backend(base);
	struct bpf_drain_opts d = {
		.programs = b->programs,
		.events = b->opts->events,
		.syms = b->opts->syms,
		.w = w,
		.user_fp_only = b->opts->user_fp_only,
	};
	int err;

	b->w = w;
	if (b->files) {
		user_files__set_writer(b->files, w);
		err = user_files__follow(b->files);
		if (err)
			return log_err(err, "read the rings of file events");
	}
	err = kernel_unwind_meta(b);
	if (err)
		return err;
	d.files = b->files;
	err = bpf_drain__new(&d, &b->drain);
	return err ? log_err(err, "map the rings") : open_losses(b);
}

/* ---- while recording ------------------------------------------------------------------------- */

static unsigned int bpf_nr_cpus(const struct backend *b)
{
	return programs__nr_cpus(to_bpf_backend(b)->programs);
}

static uint64_t bpf_ring_size(const struct backend *b)
{
	return programs__memory(to_bpf_backend(b)->programs)->ring;
}

static const struct memory_plan *bpf_memory(const struct backend *b)
{
	return programs__memory(to_bpf_backend(b)->programs);
}

static int bpf_arm(struct backend *base)
{
	struct bpf_backend *b = to_bpf_backend(base);

	b->armed_ts = b->counters_ts = recorder_opts__now(b->opts);
	pending_losses__since(b->losses, b->armed_ts);
	return programs__arm(b->programs);
}

static int bpf_disarm(struct backend *b)
{
	return programs__disarm(to_bpf_backend(b)->programs);
}

static int bpf_counters(struct backend *base, uint64_t (*ret_counters)[STK_NR_COUNTERS])
{
	struct bpf_backend *b = to_bpf_backend(base);

	b->previous_ts = b->counters_ts;
	b->counters_ts = recorder_opts__now(b->opts);
	return programs__counters(b->programs, ret_counters);
}

static void bpf_add_ends(struct backend *b, uint64_t (*counters)[STK_NR_COUNTERS])
{
	bpf_drain__add_ends(to_bpf_backend(b)->drain, counters);
}

static int bpf_drain(struct backend *b, bool last)
{
	return bpf_drain__run(to_bpf_backend(b)->drain);
}

static int take_loss(void *ctx, const struct stk_writer_loss *loss)
{
	struct bpf_backend *b = ctx;

	return stk_writer__loss(b->w, loss);
}

/* Losses that no program noticed happened since the previous call of counters(). */
static int unseen_losses(struct bpf_backend *b)
{
	uint64_t now = recorder_opts__now(b->opts), unseen;
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->opts->events->nr && !err; i++) {
		unseen = programs__unseen(b->programs, i);
		if (unseen == b->written[i])
			continue;
		err = stk_writer__loss(b->w, &(struct stk_writer_loss){
						     .event = i,
						     .cpu = STK_WRITER_ANY,
						     .first_ts = b->previous_ts,
						     .last_ts = now,
						     .count = unseen - b->written[i],
					     });
		b->written[i] = unseen;
	}
	return err;
}

static int bpf_losses(struct backend *base, bool counted)
{
	struct bpf_backend *b = to_bpf_backend(base);
	int err = pending_losses__take(b->losses, take_loss, b);

	return err || !counted ? err : unseen_losses(b);
}

static void bpf_stats(const struct backend *b, struct backend_stats *ret_stats)
{
	bpf_drain__stats(to_bpf_backend(b)->drain, ret_stats);
}

static void bpf_end_round(struct backend *b)
{
	bpf_drain__end_round(to_bpf_backend(b)->drain);
}

static int bpf_file_event_fd(const struct backend *b)
{
	return to_bpf_backend(b)->files ? user_files__fd(to_bpf_backend(b)->files) : -1;
}

/*
 * Opens new files at once: their processes may be short-lived, and stacks are copied until the
 * unwind tables that they need are loaded.
 */
static int bpf_take_file_events(struct backend *b)
{
	int err = user_files__poll(to_bpf_backend(b)->files);

	return err ? log_err(err, "read file events") : 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

static int unwind_meta(struct bpf_backend *b)
{
	const struct recorder_opts *o = b->opts;
	struct user_files_stats fs;
	int err;

	user_files__stats(b->files, &fs);
	const struct meta_number rows[] = {
		{ "unwind.files", fs.files },
		{ "unwind.tables_loaded", fs.loaded },
		{ "unwind.no_table", fs.no_table },
		{ "unwind.not_kept", fs.not_kept },
		{ "unwind.evicted", fs.evicted },
		{ "unwind.refused", fs.refused },
		{ "unwind.table_bytes", fs.table_bytes },
		{ "unwind.table_peak", fs.table_peak },
		{ "unwind.cfi_bytes", fs.cfi_bytes },
		{ "unwind.load_ns", fs.load_ns },
		{ "unwind.budget", programs__memory(b->programs)->tables },
	};

	err = stk_writer__meta(b->w, "unwind.mode", o->user_fp_only ? "fp" : "cfi");
	return err ?: meta__numbers(b->w, rows, ARRAY_SIZE(rows));
}

/* Writes what a reader needs for user stacks: files, build ids, symbols. */
static int finish_files(struct bpf_backend *b)
{
	int err;

	if (!b->files)
		return 0;
	err = user_files__finish(b->files, b->opts->symbols, recorder_opts__ahead_of_mono(b->opts));
	if (!err)
		err = unwind_meta(b);
	return err ? log_err(err, "write the symbols of user stacks") : 0;
}

/*
 * Writes what is not verified of each event, and since when: since the recording began if nothing
 * has agreed yet; ret_count: how much in all.
 */
static int write_unverified(struct bpf_backend *b, const char *key,
			    struct programs_unverified (*get)(const struct programs *p,
							      unsigned int event),
			    uint64_t *ret_count)
{
	struct strbuf text = { 0 };
	unsigned int i;
	int err = 0;

	*ret_count = 0;
	for (i = 0; i < b->opts->events->nr; i++) {
		const struct rec_event *e = &b->opts->events->v[i];
		struct programs_unverified u = get(b->programs, i);

		if (u.stacks)
			strbuf__printf(&text, "%s:%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
				       e->system, e->name, u.stacks, MAX(u.from, b->armed_ts),
				       u.to);
		*ret_count += u.stacks;
	}
	if (*ret_count)
		err = meta__text(b->w, key, &text);
	strbuf__free(&text);
	return err;
}

/* The frames of a stack, innermost first, as in "vfs_read+0x12". */
static void put_stack(struct bpf_backend *b, struct strbuf *text, uint32_t id)
{
	uint64_t frames[STK_MAX_DEPTH];
	unsigned int i, nr;
	struct ksym sym;
	int err = bpf_drain__frames(b->drain, id, frames, &nr);

	if (err)
		strbuf__printf(text, err == -ENOENT ? " not in the stack map" : " unreadable");
	for (i = 0; i < nr && !err; i++)
		if (FRAME_IS_MARKER(frames[i]))
			strbuf__printf(text, " cut");
		else if (ksyms__find(b->opts->syms, frames[i] - 1, &sym))
			strbuf__printf(text, " 0x%" PRIx64, frames[i]);
		else
			strbuf__printf(text, " %s+0x%" PRIx64, sym.name, frames[i] - sym.start);
}

/* Writes which walked stacks have differed from the kernel's, and the kernel's. */
static int different_stacks(struct bpf_backend *b)
{
	unsigned int i, nr_cpus = programs__nr_cpus(b->programs);
	struct strbuf text = { 0 };
	int err = 0;

	for (i = 0; i < b->opts->events->nr * nr_cpus; i++) {
		const struct rec_event *e = &b->opts->events->v[i / nr_cpus];
		struct programs_difference d =
			programs__difference(b->programs, i / nr_cpus, i % nr_cpus);

		if (!d.walked)
			continue;
		strbuf__printf(&text, "%s:%s walked:", e->system, e->name);
		put_stack(b, &text, d.walked);
		strbuf__printf(&text, "; the kernel's:");
		put_stack(b, &text, d.kernel);
		strbuf__putc(&text, '\n');
	}
	if (text.len || strbuf__failed(&text))
		err = meta__text(b->w, "kernel_unwind.differed", &text);
	strbuf__free(&text);
	return err;
}

/* If a walked stack has differed from the kernel's. */
static int unverified_stacks(struct bpf_backend *b)
{
	uint64_t stacks;
	int err = write_unverified(b, "kernel_unwind.unverified", programs__unverified, &stacks);

	err = err ?: different_stacks(b);
	if (stacks)
		log_warn("a kernel stack walked by the recorder differed from the kernel's: %s not "
			 "verified; the kernel walked all later ones",
			 text__count(stacks, "earlier stack").s);
	return err;
}

/* Values may have any bytes. */
static void put_line(struct strbuf *text, const struct rec_event *e, const struct strbuf *what)
{
	size_t i;

	strbuf__printf(text, "%s:%s ", e->system, e->name);
	for (i = 0; i < what->len; i++)
		if ((unsigned char)what->s[i] < ' ')
			strbuf__printf(text, "\\x%02x", (unsigned char)what->s[i]);
		else
			strbuf__putc(text, what->s[i]);
	strbuf__putc(text, '\n');
}

/* Writes in what the records of native events have differed from the kernel's. */
static int differences(struct bpf_backend *b)
{
	struct strbuf lines = { 0 }, what = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < b->opts->events->nr; i++) {
		const struct rec_event *e = &b->opts->events->v[i];

		strbuf__reset(&what);
		programs__fields_difference(b->programs, i, &what);
		if (!what.len)
			continue;
		put_line(&lines, e, &what);
		log_warn("the recorder's record of %s:%s differed from the kernel's: %s; %s not "
			 "verified",
			 e->system, e->name, what.s ?: "",
			 text__count(programs__fields_unverified(b->programs, i).stacks,
				     "earlier event")
				 .s);
	}
	if (lines.len || strbuf__failed(&lines))
		err = meta__text(b->w, "fields.differed", &lines);
	strbuf__free(&lines);
	strbuf__free(&what);
	return err;
}

/* Writes from when on the kernel filled the records of native events. */
static int kernel_fields_meta(struct bpf_backend *b)
{
	const struct rec_events *l = b->opts->events;
	struct strbuf text = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->nr; i++) {
		uint64_t since = old_way__since(b->programs, i);

		if (since)
			strbuf__printf(&text, "%s:%s %" PRIu64 "\n", l->v[i].system, l->v[i].name,
				       since);
	}
	if (text.len || strbuf__failed(&text))
		err = meta__text(b->w, "fields.kernel", &text);
	strbuf__free(&text);
	return err;
}

static int unverified_fields(struct bpf_backend *b)
{
	uint64_t events;
	int err = write_unverified(b, "fields.unverified", programs__fields_unverified, &events);

	return err ?: differences(b);
}

/* Writes the names of the events that are so. */
static int write_events(struct bpf_backend *b, const char *key,
			bool (*is_so)(const struct programs *p, unsigned int event))
{
	const struct rec_events *l = b->opts->events;
	struct strbuf text = { 0 };
	unsigned int i;
	int err = 0;

	for (i = 0; i < l->nr; i++)
		if (is_so(b->programs, i))
			strbuf__printf(&text, "%s%s:%s", text.len ? ", " : "", l->v[i].system,
				       l->v[i].name);
	if (text.len || strbuf__failed(&text))
		err = meta__text(b->w, key, &text);
	strbuf__free(&text);
	return err;
}

static int bpf_finish(struct backend *base)
{
	struct bpf_backend *b = to_bpf_backend(base);
	struct backend_stats ds;
	int err;

	bpf_drain__stats(b->drain, &ds);
	if (ds.unresolved)
		log_warn("the stack map lacks %s of events: this is a bug of stackonce",
			 text__count(ds.unresolved, "stack").s);
	err = finish_files(b);
	err = err ?: unverified_stacks(b);
	err = err ?: unverified_fields(b);
	err = err ?: write_events(b, "events.uncounted", programs__lacks_counter);
	err = err ?: write_events(b, "events.native", programs__is_native);
	err = err ?: write_events(b, "events.second", programs__has_second);
	err = err ?: kernel_fields_meta(b);
	return err;
}

static void bpf_costs(const struct backend *b, struct backend_costs *ret_costs)
{
	programs__costs(to_bpf_backend(b)->programs, ret_costs);
}

const struct backend_ops backend_bpf = {
	.open = bpf_open,
	.free = bpf_free,
	.nr_cpus = bpf_nr_cpus,
	.ring_size = bpf_ring_size,
	.memory = bpf_memory,
	.set_writer = bpf_set_writer,
	.arm = bpf_arm,
	.disarm = bpf_disarm,
	.counters = bpf_counters,
	.add_ends = bpf_add_ends,
	.drain = bpf_drain,
	.losses = bpf_losses,
	.stats = bpf_stats,
	.end_round = bpf_end_round,
	.file_event_fd = bpf_file_event_fd,
	.take_file_events = bpf_take_file_events,
	.finish = bpf_finish,
	.costs = bpf_costs,
};
