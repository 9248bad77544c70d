// SPDX-License-Identifier: GPL-2.0-only
/*
 * path DIR LOAD CPU ROUNDS EVENTS [SET...]: measures the stages of the recorder's programs with the
 * objects path*.bpf.o in DIR.  In each round every stage of the sets is measured once, another one
 * first, and the load alone.  Prints a line for each: LOAD SET STAGE, ns of the load's CPU time per
 * event, the shares of the events whose stack was walked and that the ring had no room for, and the
 * ns that the programs ran per event.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kwalk/kwalk.h"
#include "path_load.h"
#include "path_object.h"
#include "record/select/rec_event.h"

#define NR(array) (sizeof(array) / sizeof(*(array)))
#define RING WIRE_RING_PART
#define SMALL_RING (64u << 10)
#define BYTES 512 /* an event has fewer in the ring */
#define WARM_UP 2048 /* events before those that are measured */

struct stage {
	const char *name;
	const char *programs[2]; /* that are attached */
	const char *end; /* what a front goes on with */
};

/* clang-format off */
/* Both programs of an event, the recorder cut off after the stage. */
#define PAIR(stage) { #stage, { "count", "path_" #stage }, NULL }
#define ALL { "all", { "count", "record" }, NULL }
/* The programs of a native event, cut off in the front or in the end. */
#define FRONT(stage) { #stage, { "path_native_" #stage }, NULL }
#define ENDED(stage) { #stage, { PATH_FRONT }, "path_end_" #stage }
#define NATIVE { "all", { PATH_FRONT }, "native_end" }
#define END { NULL, { NULL }, NULL }

static const struct stage all_stages[] = {
	{ "raw_empty", { "path_native_empty" }, NULL },
	{ "recorder_empty", { "path_empty" }, NULL },
	{ "empty", { "path_native_empty", "path_empty" }, NULL },
	{ "happened", { "path_count_happened", "path_empty" }, NULL },
	{ "prog_active", { "path_count_active", "path_empty" }, NULL },
	{ "count", { "count", "path_empty" }, NULL },
	PAIR(cookie), PAIR(time), PAIR(wanted), PAIR(scratch), PAIR(task), PAIR(copy),
	PAIR(preempt), PAIR(irqs), PAIR(flags), PAIR(begin), PAIR(recall), PAIR(stack),
	PAIR(ring), PAIR(written), ALL, END
};

/* A few of them, for a changed property. */
static const struct stage few_stages[] = {
	{ "count", { "count", "path_empty" }, NULL },
	PAIR(scratch), PAIR(flags), PAIR(begin), PAIR(recall), PAIR(stack), ALL, END
};

static const struct stage end_stages[] = { PAIR(flags), PAIR(ring), ALL, END };

static const struct stage native_stages[] = {
	FRONT(empty),  FRONT(wanted), FRONT(slot), FRONT(flags), ENDED(fields),
	ENDED(recall), ENDED(known),  ENDED(ring), NATIVE,	 END
};

static const struct stage native_end_stages[] = { FRONT(flags), ENDED(fields), NATIVE, END };
/* clang-format on */

/* One way to load the programs. */
static const struct set {
	const char *name, *object;
	bool kernel_stacks;
	uint64_t ring;
	const struct stage *stages;
} sets[] = {
	{ "recorder", "path", true, RING, all_stages },
	{ "no-stacks", "path", false, RING, end_stages },
	{ "native", "path", true, RING, native_stages },
	{ "native-no-stacks", "path", false, RING, native_end_stages },
	{ "plain", "path_plain", true, RING, few_stages },
	{ "one-line", "path_one_line", true, RING, few_stages },
	{ "small-ring", "path", true, SMALL_RING, end_stages },
};

#define MAX_RUNS 128

/* A stage of a set, or neither: the load alone. */
struct run {
	const struct set *set;
	const struct stage *stage;
	struct path_object *object;
};

static struct path_object *running; /* its ring is emptied */
static unsigned int cpu;

static void empty_ring(void)
{
	if (running)
		path_object__empty(running, cpu);
}

static struct path_object *load_set(const char *dir, const struct set *s, struct rec_events *events,
				    struct kwalk *kwalk)
{
	const char *programs[3 * NR(all_stages) + 2];
	size_t nr = 0, i;
	char file[4096];

	for (i = 0; s->stages[i].name; i++) {
		programs[nr++] = s->stages[i].programs[0];
		if (s->stages[i].programs[1])
			programs[nr++] = s->stages[i].programs[1];
		if (s->stages[i].end)
			programs[nr++] = s->stages[i].end;
	}
	if (s->stages[i - 1].end && s->kernel_stacks)
		programs[nr++] = "native_slow";
	programs[nr] = NULL;
	snprintf(file, sizeof(file), "%s/%s.bpf.o", dir, s->object);
	return path_object__load(&(struct path_setup){
		.file = file,
		.programs = programs,
		.kernel_stacks = s->kernel_stacks,
		.ring = s->ring,
		.events = events,
		.kwalk = kwalk,
	});
}

/* What a counter has counted since, as a share of the events. */
static double share(struct path_object *o, const struct event_counts *before, unsigned int counter,
		    uint64_t events)
{
	return (double)(path_object__counts(o, cpu)->c[counter] - before->c[counter]) / events;
}

/* ns that the attached programs run for an event. */
static double program_ns(struct path_object *o, const struct path_load *l, uint64_t events,
			 const struct path_pause *pause)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	uint64_t runs, ns, runs_before, ns_before;

	if (stats < 0)
		err(1, "enable the statistics of programs");
	path_object__runs(o, &runs_before, &ns_before);
	path_load__measure(l, cpu, events, pause);
	path_object__runs(o, &runs, &ns);
	close(stats);
	return runs == runs_before ? 0 : (double)(ns - ns_before) / (runs - runs_before);
}

static void attach(struct path_object *o, const struct stage *s)
{
	size_t i;

	if (s->end)
		path_object__set_end(o, s->end);
	for (i = 0; i < NR(s->programs) && s->programs[i]; i++)
		path_object__attach(o, s->programs[i]);
}

static void measure(const struct run *r, const struct path_load *l, uint64_t events)
{
	struct path_pause pause = { 1024, empty_ring };
	struct event_counts before;
	struct path_object *o = r->object;
	double ns;

	running = o;
	if (!o) {
		ns = path_load__measure(l, cpu, events, &pause);
		printf("%s - nothing %.2f 0 0 0\n", l->name, ns);
		return;
	}
	pause.every = r->set->ring / 2 / BYTES;
	attach(o, r->stage);
	path_load__measure(l, cpu, WARM_UP, &pause);
	before = *path_object__counts(o, cpu);
	ns = path_load__measure(l, cpu, events, &pause);
	printf("%s %s %s %.2f", l->name, r->set->name, r->stage->name, ns);
	printf(" %.4f %.4f", share(o, &before, STK_C_WALKED, events),
	       share(o, &before, STK_C_LOST_RING, events));
	printf(" %.2f\n", program_ns(o, l, events / 4, &pause));
	path_object__detach(o);
}

/* Fills the memo and notes the starts: a stage that only asks them finds the stacks there. */
static void warm_up(const struct set *s, struct path_object *o, const struct path_load *l)
{
	struct path_pause pause = { 64, empty_ring };
	const struct stage *last = s->stages;

	while (last[1].name)
		last++;
	running = o;
	attach(o, last);
	path_load__measure(l, cpu, 10 * WARM_UP, &pause);
	program_ns(o, l, WARM_UP, &pause); /* called from another place */
	path_object__detach(o);
}

static bool is_wanted(const char *name, char *const *names, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(names[i], name))
			return true;
	return !nr;
}

int main(int argc, char **argv)
{
	struct rec_events events = { 0 };
	const struct path_load *l;
	struct run runs[MAX_RUNS] = { { 0 } };
	struct kwalk *kwalk = NULL;
	size_t nr = 1, i, j;
	uint64_t each;
	int rounds, r;

	if (argc < 6)
		errx(2, "usage: path DIR LOAD CPU ROUNDS EVENTS [SET...]");
	setlinebuf(stdout);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	l = path_load__find(argv[2]);
	if (!l)
		errx(2, "there is no load '%s'", argv[2]);
	cpu = atoi(argv[3]);
	rounds = atoi(argv[4]);
	each = strtoull(argv[5], NULL, 10);
	if (rec_events__add(&events, l->event, NULL, NULL) ||
	    kwalk__new_btf(rec_events__kernel_types(&events), &kwalk))
		errx(1, "prepare %s", l->event);
	for (i = 0; i < NR(sets); i++) {
		struct path_object *o;

		if (!is_wanted(sets[i].name, argv + 6, argc - 6))
			continue;
		o = load_set(argv[1], &sets[i], &events, kwalk);
		if (rounds)
			warm_up(&sets[i], o, l);
		for (j = 0; sets[i].stages[j].name; j++)
			runs[nr++] = (struct run){ &sets[i], &sets[i].stages[j], o };
	}
	for (r = 0; r < rounds; r++) {
		printf("round %d\n", r);
		for (i = 0; i < nr; i++)
			measure(&runs[(i + r) % nr], l, each);
	}
	return 0;
}
