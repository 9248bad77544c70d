// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * stackcount [SECONDS [ROUNDS]]: prints the kernel stacks that switch tasks most often.  An example
 * of the stack map in a program of its own: configure, load, hold, attach, read, reset.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackmap.h"
#include "stackcount.skel.h"

#define TOP 5

struct symbol {
	uint64_t addr;
	char name[64];
};

struct symbols {
	struct symbol *sym;
	size_t nr;
};

static int by_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void symbols_load(struct symbols *s)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	struct symbol one, *grown;
	char line[512], type;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 " %c %63s", &one.addr, &type, one.name) != 3 ||
		    !one.addr || !strchr("tTwW", type))
			continue;
		if (s->nr % 4096 == 0) {
			grown = realloc(s->sym, (s->nr + 4096) * sizeof(one));
			if (!grown)
				break;
			s->sym = grown;
		}
		s->sym[s->nr++] = one;
	}
	if (f)
		fclose(f);
	if (s->nr)
		qsort(s->sym, s->nr, sizeof(*s->sym), by_addr);
}

static void print_frame(const struct symbols *s, uint64_t addr)
{
	size_t low = 0, high = s->nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (s->sym[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		printf("    %s+0x%" PRIx64 "\n", s->sym[low - 1].name, addr - s->sym[low - 1].addr);
	else
		printf("    0x%" PRIx64 "\n", addr);
}

/* Removes the most frequent stack from the counts; 0 if none is left. */
static int take_top(int counts, uint64_t *ret_id, uint64_t *ret_count)
{
	uint64_t key, *prev = NULL, count;

	*ret_count = 0;
	while (!bpf_map_get_next_key(counts, prev, &key)) {
		prev = &key;
		if (!bpf_map_lookup_elem(counts, &key, &count) && count > *ret_count) {
			*ret_count = count;
			*ret_id = key;
		}
	}
	return *ret_count && !bpf_map_delete_elem(counts, ret_id);
}

static void report(struct stackcount_bpf *skel, const struct stackmap *map,
		   const struct symbols *sym)
{
	int counts = bpf_map__fd(skel->maps.counts), top;
	struct stackmap_stack stack;
	struct stackmap_stats stats;
	uint64_t id, count;
	uint32_t i;

	stackmap__stats(map, &stats);
	printf("generation %u: %" PRIu64 " stacks in %" PRIu64 " KiB, %" PRIu64 " events lost\n",
	       stats.generation, stats.stacks, stats.pool_used * 8 / 1024,
	       (uint64_t)skel->bss->lost);
	for (top = 0; top < TOP && take_top(counts, &id, &count); top++) {
		if (stackmap__lookup(map, id, &stack))
			continue;
		printf("  %" PRIu64 " times, stack %" PRIx64 ":\n", count, id);
		for (i = 0; i < stack.n; i++)
			print_frame(sym, stack.words[i]);
	}
	while (!bpf_map_get_next_key(counts, NULL, &id))
		bpf_map_delete_elem(counts, &id);
}

/* One generation: attach, wait, detach, report, empty. */
static int round_once(struct stackcount_bpf *skel, struct stackmap *map, const struct symbols *sym,
		      unsigned int seconds)
{
	int err = stackmap__hold(map);

	if (err)
		return err;
	err = stackcount_bpf__attach(skel);
	if (!err) {
		sleep(seconds);
		stackcount_bpf__detach(skel);
		report(skel, map, sym);
	}
	stackmap__release(map);
	return err ? err : stackmap__reset(map);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 1;
	struct stackmap_opts opts = { .bits = 14 };
	struct stackcount_bpf *skel = stackcount_bpf__open();
	struct stackmap *map = NULL;
	struct symbols sym = {};
	int err;

	if (!skel)
		return 1;
	err = stackmap__configure(skel->obj, &opts);
	if (!err)
		err = stackcount_bpf__load(skel);
	if (!err)
		err = stackmap__open(skel->obj, &map);
	symbols_load(&sym);
	while (!err && rounds--)
		err = round_once(skel, map, &sym, seconds);
	if (err)
		fprintf(stderr, "stackcount: %s\n", strerror(-err));
	free(sym.sym);
	stackmap__free(map);
	stackcount_bpf__destroy(skel);
	return err != 0;
}
