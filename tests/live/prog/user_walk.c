// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_walk [CALLS]: what the walk of a user stack costs by the kind of stack, and what the
 * verifier does for it.  Nothing is attached and nothing else is recorded: the program that walks
 * is run by BPF_PROG_TEST_RUN at the end of a chain of functions, and reads the clock before and
 * after.  It fails if a stack differs from the same one walked with nothing remembered, or if those
 * that recur are walked again.
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record/bpf/programs_priv.h"
#include "record/bpf/user_pages.h"
#include "record/files/user_files_priv.h"
#include "stackmap/stackmap.h"
#include "user_walk.skel.h" /* needs the types above */

#ifdef __clang__
#define ALONE static __attribute__((noinline))
#else
#define ALONE static __attribute__((noipa))
#endif
#define KEEP(r) __asm__ volatile("" : "+r"(r) : : "memory")

#define BASE 18 /* frames of every stack, beside those of main() and of libc */

static struct user_walk_bpf *skel;
static union bpf_attr run;

/* ---- the chain ------------------------------------------------------------------------------- */

struct chain {
	unsigned int more, varying; /* frames to come; those of them that are of the kind `ways` */
	uint64_t ways; /* a bit per varying frame */
};

ALONE long small(struct chain *c);
ALONE long large(struct chain *c);

/* Not by libbpf, whose frames would be most of the stack. */
static inline __attribute__((always_inline)) long next(struct chain *c)
{
	bool is_small;

	if (!c->more)
		return syscall(SYS_bpf, BPF_PROG_TEST_RUN, &run, sizeof(run));
	c->more--;
	is_small = c->more < c->varying ? c->ways >> c->more & 1 : c->more % 3;
	return is_small ? small(c) : large(c);
}

ALONE long small(struct chain *c)
{
	long r = next(c);

	KEEP(r);
	return r;
}

ALONE long large(struct chain *c)
{
	char room[200], *p = room;
	long r;

	memset(room, (int)c->more, sizeof(room));
	KEEP(p);
	r = next(c);
	KEEP(r);
	return r + (p[3] & 0);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void run_fd(const struct bpf_program *prog)
{
	memset(&run, 0, sizeof(run));
	run.test.prog_fd = bpf_program__fd(prog);
}

static void load(void)
{
	const struct stackmap_opts map = { .bits = 17, .pool_bytes = 64 << 20 };

	skel = user_walk_bpf__open();
	if (!skel)
		err(1, "open the BPF object");
	/* room for all stacks: one that is not in the map is never known */
	errno = -stackmap__configure(skel->obj, &map);
	if (errno)
		err(1, "configure the stack map");
	skel->rodata->nr_cpus = 1;
	skel->rodata->user_stacks = true;
	skel->rodata->user_thread_mask = 127;
	bpf_map__set_max_entries(skel->maps.files, WIRE_FILE_ENTRIES);
	bpf_map__set_max_entries(skel->maps.file_slots, WIRE_FILE_SLOTS);
	bpf_map__set_max_entries(skel->maps.threads, 128);
	errno = -user_walk_bpf__load(skel);
	if (errno)
		err(1, "load the BPF programs");
}

static uint32_t file_at(uint64_t addr)
{
	uint64_t args[12] = { addr };

	run_fd(skel->progs.intern);
	run.test.ctx_in = (uintptr_t)args;
	run.test.ctx_size_in = sizeof(args);
	if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &run, sizeof(run)))
		err(1, "run the program 'intern'");
	return skel->bss->last_result;
}

/* Loads the unwind tables of this process's own mappings. */
static struct user_files *load_tables(void)
{
	struct user_files_opts o = { .nr_cpus = 1,
				     .ctl = (struct wire_user_ctl *)&skel->bss->user_ctl,
				     .slabs_fd = bpf_map__fd(skel->maps.slabs),
				     .snapshot_fd = -1,
				     .table_budget = 64 << 20 };
	FILE *f = fopen("/proc/self/maps", "re");
	struct user_files *files;
	char line[4096], x;

	o.entries = mmap(NULL, sizeof(struct wire_file) * WIRE_FILE_ENTRIES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, bpf_map__fd(skel->maps.files), 0);
	if (!f || o.entries == MAP_FAILED || user_files__new(&o, &files))
		errx(1, "the files of this process are unknown");
	while (fgets(line, sizeof(line), f)) {
		struct wire_file_event n = { .tgid = getpid(), .tid = getpid() };

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64, &n.start, &n.end,
			   &x, &n.offset) != 4 ||
		    x != 'x' || !strchr(line, '/'))
			continue;
		n.file = file_at(n.start);
		n.key = o.entries[n.file].key;
		if (n.file && user_files__take_file_event(files, &n))
			errx(1, "no table of %s", line);
	}
	fclose(f);
	return files;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *v, unsigned long nr)
{
	qsort(v, nr, sizeof(*v), by_value);
	return v[nr / 2];
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

struct kind {
	const char *name;
	unsigned int from, to; /* frames beyond BASE */
	unsigned long ways;
	bool leaf; /* only the innermost function differs */
	unsigned int known; /* per cent of the stacks that need no walk, at least */
};

static const struct kind kinds[] = {
	{ "always the same stack, 20 functions", 2, 2, 1, false, 85 },
	{ "always the same stack, 60 functions", 42, 42, 1, false, 85 },
	{ "60 functions, the innermost differs", 42, 42, 2, true, 70 },
	{ "one of 1000, 20 to 59 functions", 2, 41, 1000, false, 0 },
	{ "one of a billion, 20 to 59 functions", 2, 41, 1000000000, false, 0 },
};

static void climb(const struct kind *k, uint64_t way)
{
	struct chain c = { 0 };

	way %= k->ways;
	if (k->leaf)
		c.ways = 0x5555555555555554u | way;
	else
		c.ways = next_random(&way);
	c.varying = k->from + next_random(&way) % (k->to - k->from + 1);
	c.more = BASE + c.varying;
	if (small(&c) < 0)
		err(1, "run the program");
}

extern const char *__libc_stack_end; /* the stack pointer when the program began */

/* A page fault waits until the page has been migrated. */
ALONE void read_stack(void)
{
	const volatile char *p = __builtin_frame_address(0);

	for (; p < __libc_stack_end; p += 4096)
		*p;
	*(const volatile char *)__libc_stack_end;
}

/* While the kernel migrates a page of the stack, only code that may sleep can read it. */
static void climb_readable(const struct kind *k, uint64_t way, bool forget)
{
	for (int tries = 0; tries < 5; tries++) {
		if (tries)
			read_stack();
		if (forget)
			skel->bss->user_ctl.generation++;
		climb(k, way);
		if (skel->bss->last_end != STK_END_UNREADABLE)
			break;
	}
}

/* Walks the stack; one call in 32 again, with nothing remembered: the stack must be the same. */
static uint64_t walk(const struct kind *k, uint64_t way, bool again)
{
	uint32_t stack = 0;
	uint64_t ns = 0;
	int i;

	for (i = 0; i <= again; i++) {
		climb_readable(k, way, i);
		if (skel->bss->last_end != STK_END_COMPLETE)
			errx(1, "a stack ends with %u", skel->bss->last_end);
		if (skel->bss->last_stack == WIRE_STACK_FULL ||
		    skel->bss->last_stack == WIRE_STACK_NONE)
			errx(1, "a stack is not in the stack map");
		if (i && skel->bss->last_stack != stack)
			errx(1, "another stack than with nothing remembered");
		stack = skel->bss->last_stack;
		ns = i ? ns : skel->bss->last_ns;
	}
	return ns;
}

static void measure(const struct kind *k, unsigned long calls, uint64_t nothing)
{
	uint64_t *ns = calloc(calls, sizeof(*ns)), state = 1, sum = 0;
	unsigned long i, warm = k->ways < 10000 ? k->ways : 0, known = 0;

	if (!ns)
		err(1, "calloc");
	run_fd(skel->progs.walk);
	for (i = 0; i < warm + calls; i++) {
		uint64_t cost = walk(k, i < warm ? i : next_random(&state), !(i % 32)) - nothing;

		if (i < warm)
			continue;
		ns[i - warm] = cost;
		sum += cost;
		known += skel->bss->last_known;
	}
	known = known * 100 / calls;
	printf("%-38s %8" PRIu64 " %8" PRIu64 " %7lu%%\n", k->name, median(ns, calls), sum / calls,
	       known);
	if (known < k->known)
		errx(1, "at least %u%% of these stacks should be known", k->known);
	free(ns);
}

static void print_costs(const char *how, unsigned long calls, uint64_t nothing)
{
	size_t i;

	printf("%-38s %8s %8s %8s\n", how, "median", "mean", "known");
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		measure(&kinds[i], calls, nothing);
}

static uint64_t clock_cost(unsigned long calls)
{
	uint64_t *ns = calloc(calls, sizeof(*ns)), cost;
	unsigned long i;
	struct chain c;

	if (!ns)
		err(1, "calloc");
	run_fd(skel->progs.nothing);
	for (i = 0; i < calls; i++) {
		c = (struct chain){ .more = 1 };
		small(&c);
		ns[i] = skel->bss->last_ns;
	}
	cost = median(ns, calls);
	free(ns);
	return cost;
}

static void print_verified(const struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (!bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		printf("%s: %u instructions verified, %u loaded\n", bpf_program__name(prog),
		       info.verified_insns, info.xlated_prog_len / 8);
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	struct user_files *files;
	uint64_t nothing;

	load();
	print_verified(skel->progs.walk);
	files = load_tables();
	nothing = clock_cost(calls);
	print_costs("ns, memory copied", calls, nothing);
	user_pages__find(bpf_program__fd(skel->progs.locate_pages), &skel->bss->page_search,
			 &skel->bss->user_pages);
	if (skel->bss->user_pages.base)
		print_costs("ns, memory read in place", calls, nothing);
	user_files__free(files);
	user_walk_bpf__destroy(skel);
	return 0;
}
