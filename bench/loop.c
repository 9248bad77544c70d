// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop DIR RUNS: measures a native event in a loop, with the object loop.bpf.o in DIR, by so many
 * runs of it: with its kernel stack and without, on each of two CPUs alone, and on both at once.
 * Nothing is attached.  Prints a line for each: stacks or no-stacks, alone or both, CPU, and the
 * median ns per event.
 */
#include <err.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <bpf/libbpf.h>

#include "kwalk/kwalk.h"
#include "loop.h"
#include "path_object.h"
#include "record/select/rec_event.h"

#define WARM_UP 200

static const char *dir;
static int runs;

static struct path_object *load(struct rec_events *events, struct kwalk *kwalk, bool kernel_stacks)
{
	const char *programs[] = { "loop", "native_end", kernel_stacks ? "native_slow" : NULL,
				   NULL };
	struct path_object *o;
	char file[4096];

	snprintf(file, sizeof(file), "%s/loop.bpf.o", dir);
	o = path_object__load(&(struct path_setup){
		.file = file,
		.programs = programs,
		.kernel_stacks = kernel_stacks,
		.ring = WIRE_RING_PART,
		.events = events,
		.kwalk = kwalk,
	});
	path_object__set_end(o, "native_end");
	return o;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

/* Runs the loop on this CPU, in a process of its own: the recorder's is not recorded. */
static void measure(struct path_object *o, const char *what, const char *how, unsigned int cpu)
{
	int *ns = calloc(runs, sizeof(*ns)), r;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (!ns || sched_setaffinity(0, sizeof(cpus), &cpus))
		err(1, "run on CPU %u", cpu);
	for (r = -WARM_UP; r < runs; r++) {
		int is = path_object__run(o, "loop");

		if (r >= 0)
			ns[r] = is;
		path_object__empty(o, cpu);
	}
	if (path_object__counts(o, cpu)->c[STK_C_LOST_NESTED] ||
	    path_object__counts(o, cpu)->c[STK_C_LOST_RING])
		errx(1, "events were lost");
	qsort(ns, runs, sizeof(*ns), compare);
	printf("%s %s %u %.1f\n", what, how, cpu, (double)ns[runs / 2] / LOOP_EVENTS);
	fflush(stdout);
	_exit(0);
}

static void measure_on(struct path_object *o, const char *what, unsigned int from, unsigned int to)
{
	unsigned int cpu;
	int status;

	for (cpu = from; cpu <= to; cpu++)
		if (!fork())
			measure(o, what, from == to ? "alone" : "both", cpu);
	while (wait(&status) > 0)
		if (status)
			exit(1);
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "no-stacks", "stacks" };
	struct rec_events events = { 0 };
	struct kwalk *kwalk = NULL;
	int stacks;

	if (argc != 3)
		errx(2, "usage: loop DIR RUNS");
	dir = argv[1];
	runs = atoi(argv[2]);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	if (rec_events__add(&events, "raw_syscalls:sys_enter", NULL, NULL) ||
	    kwalk__new_btf(rec_events__kernel_types(&events), &kwalk))
		errx(1, "prepare raw_syscalls:sys_enter");
	for (stacks = 1; stacks >= 0; stacks--) {
		struct path_object *o = load(&events, kwalk, stacks);

		measure_on(o, names[stacks], 0, 0);
		measure_on(o, names[stacks], 1, 1);
		measure_on(o, names[stacks], 0, 1);
	}
	return 0;
}
