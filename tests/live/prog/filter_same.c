// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter_same [SEED [ACCEPT [ROUNDS]]]: compares our event filters with the kernel's.
 * filter_same cost: prints the cost of an evaluation in BPF.
 *
 * First, ACCEPT expressions, valid and invalid ones, are written to `filter` files of random events
 * and compiled: both sides must accept or both must refuse.  Then, for ROUNDS rounds, a workload
 * runs under one unfiltered tracefs instance and several filtered ones: the records of the first
 * that our evaluator (host and BPF builds) selects must be the records of the others.
 * Exit status: 0 if both are the same, 1 if not, 77 (with a reason) if this kernel cannot run it.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "filter_same.h"
#include "prog.h"
#include "record/kernel/filter_features.h"
#include "record/kernel/tracefs.h"

#define FILTERED 10 /* instances in addition to the unfiltered one */
#define PROBES 12 /* uprobe events: the same fields, other expressions */
#define EVENTS 32 /* events per round */
#define RING_KB 2048
#define WORK 150 /* pieces of work per child and round */

struct show {
	struct generator gen;
	struct filter_features features;
	struct filter_bpf *bpf;
	struct workload work;
	struct event *events;
	size_t nr_events, nr_probes;
	struct event *live[512]; /* events with samples */
	size_t nr_live;
	char base[64];
	char filtered[FILTERED][80];
	unsigned long accepted, refused, wrong, compared, selected, expressions, judged;
};

static struct show show;
static pid_t owner;

/* Also called when an error ends the program. */
static void clean_up(void)
{
	int k;

	if (getpid() != owner)
		return;
	close_range(3, ~0U, 0); /* open files prevent the removal of an instance */
	instance__remove(show.base);
	for (k = 0; k < FILTERED; k++)
		instance__remove(show.filtered[k]);
	probes__undefine();
}

static void __attribute__((noreturn)) give_up(const char *why)
{
	printf("%s\n", why);
	exit(77);
}

static const char *const systems[] = {
	"sched",	"timer",      "irq",	   "irq_vectors", "signal",   "task",
	"kmem",		"exceptions", "sock",	   "rcu",	  "filelock", "workqueue",
	"raw_syscalls", "mmap",	      "mmap_lock", "rseq",	  "tlb",      "vmalloc",
	"skb",		"compaction", "cgroup",	   "maple_tree",  "filemap",  "huge_memory",
	"percpu",	"x86_fpu",    "tcp",
};

static const char *const calls[] = {
	"openat",     "read",	     "write",		"close",    "kill",   "lseek",
	"poll",	      "mmap",	     "munmap",		"mprotect", "access", "faccessat",
	"socketpair", "sched_yield", "clock_nanosleep", "getpid",
};

/* Their handlers read a clock or a counter: two instances may record different values. */
static const char *const unsteady[] = {
	"timer:timer_start",
	"timer:timer_expire_entry",
	"kmem:rss_stat",
};

static bool is_unsteady(const struct event *e)
{
	char name[256];
	size_t i;

	snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	for (i = 0; i < ARRAY_SIZE(unsteady); i++) {
		if (!strcmp(name, unsteady[i]))
			return true;
	}
	return false;
}

static void on_signal(int sig)
{
	exit(128 + sig);
}

static void load_event(struct show *s, const char *system, const char *name)
{
	struct event *e = &s->events[s->nr_events];
	_cleanup_free_ char *text = NULL;

	if (!strcmp(system, "ftrace") || tracefs__format(system, name, &text) ||
	    ev_format__parse(text, strlen(text), &e->fmt))
		return;
	e->system = strdup(system);
	e->name = strdup(name);
	e->id = ev_format__id(e->fmt);
	s->nr_events++;
}

static void load_events(struct show *s)
{
	const char *probes;
	char **names, name[32];
	size_t nr, i;

	if (tracefs__events(&names, &nr))
		give_up("tracefs lists no events");
	s->events = calloc(nr + PROBES, sizeof(*s->events));
	if (!s->events)
		err(1, "events");
	for (i = 0; i < PROBES && (i || probes__define(PROBES, &probes)); i++) {
		snprintf(name, sizeof(name), "probe%zu", i);
		s->events[i].flags_vary = true;
		load_event(s, probes, name);
	}
	s->nr_probes = s->nr_events;
	for (i = 0; i < nr; i++) {
		char *colon = strchr(names[i], ':');

		*colon = '\0';
		load_event(s, names[i], colon + 1);
	}
	tracefs__free_events(names, nr);
}

/* A round with all events enabled finds the events that occur, and values of their fields. */
static void collect_samples(struct show *s)
{
	static struct records all; /* borrowed by the events until exit */
	char path[128];
	size_t i, k;

	instance__new(s->base, 4 * RING_KB, &s->work);
	for (i = 0; i < ARRAY_SIZE(systems); i++)
		instance__try_enable(s->base, systems[i]);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		snprintf(path, sizeof(path), "syscalls/sys_enter_%s", calls[i]);
		instance__try_enable(s->base, path);
		snprintf(path, sizeof(path), "syscalls/sys_exit_%s", calls[i]);
		instance__try_enable(s->base, path);
	}
	for (i = 0; i < s->nr_probes; i++)
		instance__enable(s->base, &s->events[i], true);
	workload__run(&s->work, WORK);
	instance__read(s->base, &all);
	for (i = 0; i < s->nr_events && s->nr_live < ARRAY_SIZE(s->live); i++) {
		struct event *e = &s->events[i];

		for (k = 0; k < all.nr && e->nr_samples < 64; k++) {
			if (all.v[k].type != e->id || !workload__comm(&s->work, all.v[k].pid))
				continue;
			e->samples = realloc(e->samples, 64 * sizeof(*e->samples));
			if (!e->samples)
				err(1, "samples");
			e->samples[e->nr_samples++] = all.v[k];
		}
		if (e->nr_samples && !is_unsteady(e))
			s->live[s->nr_live++] = e;
	}
	instance__remove(s->base);
}

/* "a || b &&" makes kernels without the fix warn in their log: skip it. */
static bool dangles(const char *text)
{
	size_t len = strlen(text);

	while (len && (strchr(" \t\n\v\f\r!", text[len - 1]) || text[len - 1] == '\xa0'))
		len--;
	return len && strchr("&|", text[len - 1]);
}

static int compile(struct show *s, const struct event *e, const char *text,
		   struct filter_prog *prog, char *why, size_t size)
{
	return filter__compile(e->fmt, text, &s->features, prog, why, size);
}

/* Whether [!x] matches the end of a string. */
static bool not_matches_end(struct show *s)
{
	const struct event *e = s->live[0];
	struct records found;
	bool ret;

	instance__new(s->base, RING_KB, &s->work);
	if (instance__filter(s->base, e, "COMM ~ \"alpha[!x]\""))
		errx(1, "%s:%s has no COMM", e->system, e->name);
	instance__enable(s->base, e, true);
	workload__run(&s->work, WORK);
	instance__enable(s->base, e, false);
	instance__read(s->base, &found);
	ret = found.nr > 0;
	records__free(&found);
	instance__remove(s->base);
	return ret;
}

/* Gives one expression to both sides; returns true if both accept it. */
static bool judge(struct show *s, const struct event *e, const char *instance, const char *text,
		  struct filter_prog *prog)
{
	char why[256];
	int ours = compile(s, e, text, prog, why, sizeof(why)), theirs;

	if (ours && dangles(text))
		return false;
	theirs = instance__filter(instance, e, text);
	s->judged++;
	if (!ours != !theirs) {
		s->wrong++;
		printf("%s:%s: the kernel %s, we %s: %s\n    %s\n", e->system, e->name,
		       theirs ? "refuses" : "accepts", ours ? "refuse" : "accept", ours ? why : "",
		       text);
	}
	if (!ours && !theirs)
		s->accepted++;
	else if (ours && theirs)
		s->refused++;
	return !ours && !theirs;
}

static void compare_acceptance(struct show *s, unsigned long nr)
{
	struct filter_prog *prog = malloc(sizeof(*prog));
	char text[MAX_EXPR_TEXT];

	if (!prog)
		err(1, "program");
	instance__new(s->base, 64, NULL);
	while (nr--) {
		const struct event *e = &s->events[rng__below(&s->gen.rng, s->nr_events)];

		if (s->nr_live && rng__below(&s->gen.rng, 2))
			e = s->live[rng__below(&s->gen.rng, s->nr_live)];
		generate(&s->gen, e, text);
		if (rng__below(&s->gen.rng, 4))
			mutate(&s->gen, text);
		judge(s, e, s->base, text, prog);
	}
	instance__remove(s->base);
	free(prog);
}

struct chosen {
	struct event *e;
	char *text[FILTERED]; /* NULL: no expression for this instance */
	struct filter_prog *prog[FILTERED];
};

static void choose(struct show *s, struct chosen *c, size_t nr)
{
	char text[MAX_EXPR_TEXT];
	size_t i, k, n;

	for (i = 0; i < nr; i++) {
		/* Probes, which have fields of all types, come first and are always included. */
		n = i < s->nr_probes ? i : i + rng__below(&s->gen.rng, s->nr_live - i);
		c[i].e = s->live[n];
		s->live[n] = s->live[i];
		s->live[i] = c[i].e;
		for (k = 0; k < FILTERED; k++) {
			c[i].text[k] = NULL;
			c[i].prog[k] = malloc(sizeof(struct filter_prog));
			if (!c[i].prog[k])
				err(1, "program");
			for (n = 0; n < 20 && !c[i].text[k]; n++) {
				generate(&s->gen, c[i].e, text);
				if (judge(s, c[i].e, s->filtered[k], text, c[i].prog[k]))
					c[i].text[k] = strdup(text);
			}
			if (c[i].text[k])
				s->expressions++;
		}
	}
}

/* Pointers to strings can only be followed in BPF. */
static bool follows_pointers(const struct filter_prog *prog)
{
	uint32_t i;

	for (i = 0; i < prog->nr_preds; i++) {
		if (prog->preds[i].kind == FILTER_KIND_STRING &&
		    prog->preds[i].str.source >= FILTER_STR_KERNEL_PTR)
			return true;
	}
	return false;
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The events of one type that the workload's children made, as sorted hashes. */
static size_t hashes_of(struct show *s, const struct records *all, const struct event *e,
			const struct filter_prog *prog, uint64_t *ret)
{
	static struct filter_input in;
	size_t i, n = 0;

	if (prog)
		filter_bpf__set(s->bpf, prog);
	for (i = 0; i < all->nr; i++) {
		const struct record *r = &all->v[i];
		const char *comm = workload__comm(&s->work, r->pid);
		int host, bpf;

		if (r->type != e->id || !comm)
			continue;
		if (prog) {
			in.len = r->len;
			in.cpu = r->cpu;
			memset(in.comm, 0, sizeof(in.comm));
			strncpy(in.comm, comm, sizeof(in.comm) - 1);
			memcpy(in.rec, r->data, r->len);
			bpf = filter_bpf__run(s->bpf, &in);
			host = filter__match(prog, &in);
			if (host != bpf && !follows_pointers(prog)) {
				s->wrong++;
				printf("%s:%s: host says %d, BPF %d\n", e->system, e->name, host,
				       bpf);
			}
			s->compared++;
			if (bpf != 1)
				continue;
			s->selected++;
		}
		ret[n++] = record__hash(e->fmt, r) * 31 + r->cpu;
	}
	qsort(ret, n, sizeof(*ret), by_hash);
	return n;
}

static void compare_selection(struct show *s, const struct chosen *c, int k,
			      const struct records *all, const struct records *theirs)
{
	uint64_t *a = malloc((all->nr + 1) * sizeof(*a));
	uint64_t *b = malloc((theirs->nr + 1) * sizeof(*b));
	size_t na, nb;

	if (!a || !b)
		err(1, "hashes");
	na = hashes_of(s, all, c->e, c->prog[k], a);
	nb = hashes_of(s, theirs, c->e, NULL, b);
	if (na != nb || memcmp(a, b, na * sizeof(*a))) {
		s->wrong++;
		printf("%s:%s: we select %zu, the kernel %zu of the events:\n    %s\n",
		       c->e->system, c->e->name, na, nb, c->text[k]);
	}
	free(a);
	free(b);
}

static void switch_all(struct show *s, const struct chosen *c, size_t nr, bool on)
{
	size_t i;
	int k;

	for (i = 0; i < nr; i++) {
		instance__enable(s->base, c[i].e, on);
		for (k = 0; k < FILTERED; k++) {
			if (c[i].text[k])
				instance__enable(s->filtered[k], c[i].e, on);
		}
	}
}

static void one_round(struct show *s)
{
	size_t nr = MIN(s->nr_live, (size_t)EVENTS), i;
	struct chosen c[EVENTS];
	struct records all, theirs;
	int k;

	instance__new(s->base, RING_KB, &s->work);
	for (k = 0; k < FILTERED; k++)
		instance__new(s->filtered[k], RING_KB, &s->work);
	choose(s, c, nr);
	switch_all(s, c, nr, true);
	workload__run(&s->work, WORK);
	switch_all(s, c, nr, false);
	instance__read(s->base, &all);
	for (k = 0; k < FILTERED; k++) {
		instance__read(s->filtered[k], &theirs);
		for (i = 0; i < nr; i++) {
			if (c[i].text[k])
				compare_selection(s, &c[i], k, &all, &theirs);
		}
		records__free(&theirs);
	}
	records__free(&all);
	for (i = 0; i < nr; i++) {
		for (k = 0; k < FILTERED; k++) {
			free(c[i].text[k]);
			free(c[i].prog[k]);
		}
	}
	instance__remove(s->base);
	for (k = 0; k < FILTERED; k++)
		instance__remove(s->filtered[k]);
}

static void setup(struct show *s, uint64_t seed)
{
	const char *root;
	size_t size;
	char *memory;
	int k;

	if (geteuid())
		give_up("needs root: it writes to tracefs and loads BPF programs");
	if (tracefs__root(&root))
		give_up("tracefs is not mounted");
	if (ksyms__load(&s->gen.syms))
		give_up("/proc/kallsyms is missing");
	if (filter_bpf__open(&s->bpf))
		give_up("BPF programs of type syscall cannot be loaded");
	filter_features__probe(s->gen.syms, &s->features);
	s->gen.rng.state = seed;
	s->gen.nr_cpus = s->features.nr_cpus;
	s->gen.cpus = s->features.cpus;
	s->gen.function = s->features.function;
	s->gen.comms = workload_comms;
	snprintf(s->base, sizeof(s->base), "stackonce-filter-%d", getpid());
	for (k = 0; k < FILTERED; k++)
		snprintf(s->filtered[k], sizeof(s->filtered[k]), "%s-%d", s->base, k);
	owner = getpid();
	atexit(clean_up);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	load_events(s);
	memory = filter_bpf__memory(s->bpf, &size);
	workload__pin_strings(memory, size);
	workload__start(&s->work, seed);
	workload__run(&s->work, 0);
}

/* ns per evaluation for some filters of sched_switch, on one record. */
static void show_costs(struct show *s)
{
	static const char *const exprs[] = {
		"0",
		"prev_pid == 1",
		"prev_pid != 1",
		"prev_pid != 1 && next_pid != 1",
		"prev_pid == 1 || prev_prio == 1 || next_pid == 1 || next_prio == 1",
		"prev_comm == \"bash\"",
		"prev_comm ~ \"swap*\"",
		"prev_comm ~ \"*/0*\"",
		"prev_comm ~ \"*xyz*\"",
		"prev_comm ~ \"*sw[a-z]pper?[0-9]\"",
		"COMM == \"bash\"",
		"CPU & CPUS{0,1}",
	};
	static struct filter_input in = { .len = 64 };
	struct filter_prog *prog = malloc(sizeof(*prog));
	const struct event *e = NULL;
	char why[256];
	size_t i;

	for (i = 0; i < s->nr_events; i++) {
		if (!strcmp(s->events[i].name, "sched_switch"))
			e = &s->events[i];
	}
	if (!e || !prog)
		errx(1, "there is no sched_switch");
	memcpy(in.rec + 8, "swapper/0", 10);
	for (i = 0; i < ARRAY_SIZE(exprs); i++) {
		if (compile(s, e, exprs[i], prog, why, sizeof(why))) {
			printf("%-70s %s\n", exprs[i], why);
			continue;
		}
		filter_bpf__set(s->bpf, prog);
		filter_bpf__run(s->bpf, &in);
		printf("%-70s %6.1f ns\n", exprs[i], filter_bpf__cost(s->bpf));
	}
	free(prog);
}

int main(int argc, char **argv)
{
	bool costs = argc == 2 && !strcmp(argv[1], "cost");
	unsigned long seed = arg_number(costs ? 1 : argc, argv, 1, 1, ~0UL);
	unsigned long accept = arg_number(argc, argv, 2, 2000, 10000000);
	unsigned long rounds = arg_number(argc, argv, 3, 5, 10000);
	struct show *s = &show;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setup(s, seed);
	printf("features: function %d, cpus %d, common_cpu %d, stacktrace %d, dangling_op %d, "
	       "%u CPUs; %u instructions verified\n",
	       s->features.function, s->features.cpus, s->features.common_cpu,
	       s->features.stacktrace, s->features.dangling_op, s->features.nr_cpus,
	       filter_bpf__verified(s->bpf));
	if (costs) {
		show_costs(s);
		return 0;
	}
	collect_samples(s);
	s->gen.not_matches_end = s->nr_live && not_matches_end(s);
	printf("[!x] %s the end of a string\n",
	       s->gen.not_matches_end ? "matches" : "does not match");
	compare_acceptance(s, accept);
	while (rounds--)
		one_round(s);
	workload__stop(&s->work);
	printf("%lu expressions judged: %lu accepted, %lu refused; %lu run on %lu events of "
	       "%zu types (%lu selected); %lu differences\n",
	       s->judged, s->accepted, s->refused, s->expressions, s->compared, s->nr_live,
	       s->selected, s->wrong);
	filter_bpf__free(s->bpf);
	filter_features__clear(&s->features);
	ksyms__free(s->gen.syms);
	return s->wrong || !s->selected || !s->expressions;
}
