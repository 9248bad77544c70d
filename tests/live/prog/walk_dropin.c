// SPDX-License-Identifier: GPL-2.0-only
/*
 * walk_dropin RULES EVENTS COMMAND...: while COMMAND runs, compares every kernel stack of the walk
 * with that of bpf_get_stack(), at the tracepoints GROUP:EVENT in the file EVENTS (in programs of
 * the types TRACEPOINT and RAW_TRACEPOINT), at the functions NAME in it, and in timer samples.
 * RULES: "right", "none", or the name of a set of wrong rules.  Prints "key value" lines.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "kwalk.h"
#include "log.h"
#include "walk_dropin.h"
#include "walk_dropin.skel.h"

static void print_message(void *ctx, enum stk_log_level level, const char *msg)
{
	fprintf(stderr, "walk_dropin: %s\n", msg);
}

/* ---- wrong rules ----------------------------------------------------------------------------- */

/* Functions with large frames end the stack. */
static uint32_t ends_early(uint32_t rule)
{
	return KWALK_RULE_KIND(rule) == KWALK_CALL_SP && KWALK_RULE_OFFSET(rule) >= 96 ?
		       KWALK_RULE(KWALK_END, 0, 0) :
		       rule;
}

/* The stack ends at the registers of an interrupt. */
static uint32_t ends_at_registers(uint32_t rule)
{
	return KWALK_RULE_KIND(rule) == KWALK_REGS_SP ? KWALK_RULE(KWALK_END, 0, 0) : rule;
}

static const struct {
	const char *name;
	uint32_t (*spoil)(uint32_t rule);
} spoils[] = {
	{ "ends-early", ends_early },
	{ "ends-at-registers", ends_at_registers },
};

static void spoil_rules(const struct bpf_map *map, const char *name)
{
	size_t nr = bpf_map__max_entries(map), i, k;
	struct kwalk_row *rows;

	if (!strcmp(name, "right"))
		return;
	rows = mmap(NULL, nr * sizeof(*rows), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map),
		    0);
	if (rows == MAP_FAILED)
		err(1, "map the rules");
	for (k = 0; k < sizeof(spoils) / sizeof(*spoils); k++)
		for (i = 0; i < nr && !strcmp(name, spoils[k].name); i++)
			rows[i].rule = spoils[k].spoil(rows[i].rule);
	munmap(rows, nr * sizeof(*rows));
}

/* ---- attaching ------------------------------------------------------------------------------- */

struct links {
	struct bpf_link *link[2 * WALK_LINES];
	unsigned int nr;
};

static void add_link(struct links *l, struct bpf_link *link)
{
	if (link && l->nr < sizeof(l->link) / sizeof(*l->link))
		l->link[l->nr++] = link;
}

static void detach(struct links *l)
{
	while (l->nr)
		bpf_link__destroy(l->link[--l->nr]);
}

static void attach_event(struct links *l, const struct walk_dropin_bpf *skel, char *event,
			 uint64_t line)
{
	LIBBPF_OPTS(bpf_tracepoint_opts, opts, .bpf_cookie = line);
	char *name = strchr(event, ':');
	struct bpf_link *link, *raw;

	*name++ = '\0';
	raw = bpf_program__attach_raw_tracepoint(skel->progs.at_raw, name);
	if (!raw)
		opts.bpf_cookie |= WALK_NO_RAW;
	link = bpf_program__attach_tracepoint_opts(skel->progs.at_event, event, name, &opts);
	if (!link || (!raw && strcmp(event, "syscalls"))) /* these have no raw tracepoints */
		printf("refused %s:%s\n", event, name);
	add_link(l, link);
	add_link(l, raw);
}

/* Attaches to the lines of the file that are GROUP:EVENT, or to those that are functions. */
static void attach_lines(struct links *l, const struct walk_dropin_bpf *skel, const char *file,
			 bool events)
{
	FILE *f = fopen(file, "re");
	char line[256];
	uint64_t i;

	if (!f)
		err(1, "%s", file);
	for (i = 0; fscanf(f, "%255s", line) == 1; i++) {
		if (events && strchr(line, ':'))
			attach_event(l, skel, line, i);
		else if (!events && !strchr(line, ':'))
			add_link(l,
				 bpf_program__attach_kprobe(skel->progs.at_function, false, line));
	}
	fclose(f);
}

static void attach_samples(struct links *l, struct bpf_program *p)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_CPU_CLOCK,
				     .freq = 1,
				     .sample_freq = 1999 };
	int cpu, fd;

	for (cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		fd = syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0)
			add_link(l, bpf_program__attach_perf_event(p, fd));
	}
}

/* ---- results --------------------------------------------------------------------------------- */

static void run_command(struct kwalk *k, char **argv)
{
	pid_t pid = fork(), ended;
	int status;

	if (!pid) {
		execvp(*argv, argv);
		_exit(127);
	}
	if (pid < 0)
		err(1, "fork");
	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		if (kwalk__refresh(k))
			exit(1);
		usleep(20000);
	}
	if (ended != pid || status)
		err(1, "%s", *argv);
}

static void print_places(const struct bpf_map *map)
{
	struct place at, *last = NULL;
	uint64_t nr;

	while (!bpf_map_get_next_key(bpf_map__fd(map), last, &at)) {
		if (!bpf_map_lookup_elem(bpf_map__fd(map), &at, &nr))
			printf("gave_up_at %" PRIx64 " %" PRIu64 "\n", (uint64_t)at.ip, nr);
		last = &at;
	}
}

/* Events of TRACEPOINT programs, and how many of their stacks a raw_tp program also got. */
static void print_seen(const struct bpf_map *map)
{
	uint64_t at, *last = NULL, all = 0, both = 0;
	struct seen s;

	while (!bpf_map_get_next_key(bpf_map__fd(map), last, &at)) {
		if (!bpf_map_lookup_elem(bpf_map__fd(map), &at, &s)) {
			all += s.nr[AT_EVENT];
			both += s.nr[AT_RAW] ? s.nr[AT_EVENT] : 0;
		}
		last = &at;
	}
	printf("seen_at_event %" PRIu64 "\nseen_raw_too %" PRIu64 "\n", all, both);
}

static void print_lines(const struct bpf_map *map, const char *file)
{
	FILE *f = fopen(file, "re");
	char line[256];
	uint64_t nr;
	uint32_t i;

	if (!f)
		err(1, "%s", file);
	for (i = 0; fscanf(f, "%255s", line) == 1; i++)
		if (!bpf_map_lookup_elem(bpf_map__fd(map), &i, &nr) && nr)
			printf("walked_at %s %" PRIu64 "\n", line, nr);
	fclose(f);
}

static void print_difference(const struct difference *d)
{
	int i;

	for (i = 0; i < WALK_FRAMES && (d->by_walk[i] || d->by_kernel[i]); i++)
		printf("frame_by_walk_and_kernel %" PRIx64 " %" PRIx64 "\n",
		       (uint64_t)d->by_walk[i], (uint64_t)d->by_kernel[i]);
}

static void report(const struct walk_dropin_bpf *skel)
{
	struct kwalk_counts c;
	static const char *const kinds[KINDS] = { "event", "raw", "function", "sample" };
	int i;

	if (kwalk__counts(skel->obj, &c))
		exit(1);
	for (i = 0; i < KWALK_STOPS; i++)
		printf("%s %" PRIu64 "\n", kwalk_stop__name(i), (uint64_t)c.stopped[i]);
	printf("agreed %" PRIu64 "\ndiffered %" PRIu64 "\nunchecked %" PRIu64 "\n",
	       (uint64_t)c.checks[KWALK_AGREED], (uint64_t)c.checks[KWALK_DIFFERED],
	       (uint64_t)c.checks[KWALK_UNCHECKED]);
	printf("through_modules %" PRIu64 "\nempty %" PRIu64 "\n",
	       (uint64_t)skel->bss->through_modules, (uint64_t)skel->bss->empty);
	for (i = 0; i < KINDS; i++)
		printf("walked_at_%s %" PRIu64 "\nnot_begun_at_%s %" PRIu64 "\n", kinds[i],
		       (uint64_t)skel->bss->walked_at[i], kinds[i],
		       (uint64_t)skel->bss->not_begun[i]);
	printf("failed %" PRIu64 "\nno_room %" PRIu64 "\n", (uint64_t)skel->bss->failed,
	       (uint64_t)skel->bss->no_room);
	print_seen(skel->maps.seen);
	print_places(skel->maps.places);
	print_difference(&skel->bss->first);
}

int main(int argc, char **argv)
{
	struct walk_dropin_bpf *skel;
	struct links links = { 0 };
	struct kwalk *k = NULL;
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: walk_dropin RULES EVENTS COMMAND...\n");
		return 2;
	}
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
	log_set_sink(print_message, NULL);
	skel = walk_dropin_bpf__open();
	err = !skel ? -errno : strcmp(argv[1], "none") ? kwalk__new(&k) : 0;
	if (err)
		return err == -ENOTSUP || err == -EPERM ? 77 : 1;
	if (kwalk__prepare(k, skel->obj) || kwalk__set_checks(skel->obj, 0, 0) ||
	    walk_dropin_bpf__load(skel) || kwalk__start(k, skel->obj))
		return 1;
	spoil_rules(skel->maps.kwalk_rows, argv[1]);
	attach_lines(&links, skel, argv[2], true);
	printf("at_events %u\n", links.nr);
	attach_samples(&links, skel->progs.at_sample);
	printf("with_samples %u\n", links.nr);
	attach_lines(&links, skel, argv[2], false);
	printf("with_functions %u\nbytes %zu\n", links.nr, k ? kwalk__size(k) : 0);
	fflush(stdout);
	run_command(k, argv + 3);
	detach(&links);
	report(skel);
	print_lines(skel->maps.lines, argv[2]);
	walk_dropin_bpf__destroy(skel);
	kwalk__free(k);
	return 0;
}
