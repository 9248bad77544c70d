// SPDX-License-Identifier: GPL-2.0-only
/*
 * nested_fields COMMAND...: while the command runs, makes every sched event that the recorder can
 * make from a tracepoint's arguments, and compares it with the record that the kernel formats for
 * perf.  Prints a line for each: EVENT COMPARED DIFFERENT NOT-MADE NOT-KNOWN.  Exit status: 1 if a
 * record differs, else 0.
 */
#include <string.h>
#include <sys/wait.h>
#include <bpf/bpf.h>

#include "prog.h"
#include "record/select/rec_event.h"
#include "record/kernel/nested_fields.h"
#include "wire.h"

#include "nested_fields.h"

/* The skeleton uses the types of the BPF side. */
typedef uint32_t u32;
typedef uint64_t u64;
#include "nested_fields.skel.h"

#define MAX_EVENTS 16
#define DEAD 0x10 /* prev_state: another CPU reaped the task between two reads of it */
#define ZOMBIE 0x20
#define SHOWN 3

struct event {
	const struct rec_event *e;
	struct nested_fields_bpf *skel;
	struct ring_buffer *ring;
	unsigned long different, changed;
};

static void print_record(const char *who, const uint8_t *rec, uint32_t size)
{
	printf("#   %s", who);
	for (uint32_t i = 8; i < size; i++)
		printf("%s%02x", i % 4 ? "" : " ", rec[i]);
	puts("");
}

/* The same switch, except that the task was reaped in between. */
static bool died(const struct event *e, const struct difference *d)
{
	uint8_t rec[RECORD_BYTES];
	uint32_t off = 0;

	for (int i = 0; i < e->e->desc.nr_fills; i++)
		if (e->e->desc.fill[i].kind == WIRE_FILL_STATE)
			off = e->e->desc.fill[i].off;
	if (!off || (d->one.rec[off] != DEAD && d->one.rec[off] != ZOMBIE))
		return false;
	memcpy(rec, d->one.rec, sizeof(rec));
	rec[off] ^= DEAD | ZOMBIE;
	for (int i = 0; i < KEPT; i++)
		if (d->made.v[i].size == d->one.size &&
		    !memcmp(d->made.v[i].rec + 8, rec + 8, d->one.size - 8))
			return true;
	return false;
}

static int on_difference(void *ctx, void *data, size_t len)
{
	const struct difference *d = data;
	struct event *e = ctx;

	if (died(e, d)) {
		e->changed++;
		return 0;
	}
	if (++e->different > SHOWN)
		return 0;
	printf("# %s: no made record equals this one\n", e->e->name);
	print_record("the kernel's", d->one.rec, d->one.size);
	for (int i = 0; i < KEPT; i++)
		print_record("made        ", d->made.v[i].rec, d->made.v[i].size);
	return 0;
}

static void begin(struct event *e)
{
	uint32_t zero = 0;
	int make;

	e->skel = nested_fields_bpf__open_and_load();
	if (!e->skel)
		err(1, "load");
	if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.descs), &zero, &e->e->desc, 0))
		err(1, "set the event to make");
	make = bpf_program__fd(e->skel->progs.make);
	if (bpf_map_update_elem(bpf_map__fd(e->skel->maps.tails), &zero, &make, 0))
		err(1, "set the program");
	e->ring = ring_buffer__new(bpf_map__fd(e->skel->maps.differences), on_difference, e, NULL);
	if (!e->ring)
		err(1, "ring");
	e->skel->links.enter = bpf_program__attach_raw_tracepoint(e->skel->progs.enter, e->e->name);
	if (!e->skel->links.enter)
		err(1, "attach to %s", e->e->name);
	e->skel->links.check =
		bpf_program__attach_tracepoint(e->skel->progs.check, "sched", e->e->name);
	if (!e->skel->links.check)
		err(1, "attach to sched:%s", e->e->name);
}

static bool end(struct event *e)
{
	const struct nested_fields_bpf__bss *b = e->skel->bss;

	bpf_link__destroy(e->skel->links.check);
	bpf_link__destroy(e->skel->links.enter);
	e->skel->links.check = e->skel->links.enter = NULL;
	ring_buffer__consume(e->ring);
	printf("%s %llu %llu %llu %llu\n", e->e->name, (unsigned long long)b->compared,
	       e->different + (unsigned long long)b->not_told, (unsigned long long)b->not_made,
	       e->changed + (unsigned long long)b->no_room);
	ring_buffer__free(e->ring);
	return !e->different && !b->not_told;
}

static void run(char **command, struct event *events, int nr)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execvp(command[0], command);
		err(127, "%s", command[0]);
	}
	while (waitpid(pid, &status, WNOHANG) != pid) {
		for (int i = 0; i < nr; i++)
			ring_buffer__consume(events[i].ring);
		usleep(10000);
	}
	if (status)
		errx(1, "%s ended with %#x", command[0], status);
}

int main(int argc, char **argv)
{
	struct rec_events list = { 0 };
	struct event events[MAX_EVENTS] = { 0 };
	bool good = true;
	const char *name;
	char full[64];
	int nr = 0;

	if (argc < 2)
		errx(2, "usage: nested_fields COMMAND...");
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	for (size_t i = 0; (name = nested_fields__event(i)); i++) {
		snprintf(full, sizeof(full), "sched:%s", name);
		if (i == MAX_EVENTS || rec_events__add(&list, full, NULL, NULL))
			errx(1, "%s", full);
	}
	for (unsigned int i = 0; i < list.nr; i++) {
		if (!(list.v[i].desc.flags & DESC_FILLED))
			errx(1, "%s is not known here", list.v[i].name);
		events[nr].e = &list.v[i];
		begin(&events[nr++]);
	}
	run(argv + 1, events, nr);
	for (int i = 0; i < nr; i++) {
		good = end(&events[i]) && good;
		nested_fields_bpf__destroy(events[i].skel);
	}
	rec_events__clear(&list);
	return !good;
}
