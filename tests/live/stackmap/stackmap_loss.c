// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crafted stacks up to 50 % and 90 % of the capacity, in several sets: none may be lost.  For
 * comparison, prints what bpf_get_stackid() loses of the same stacks in a map of the same capacity.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "stackmap_live.h"
#include "stackmap_live.skel.h"

#define DEPTH 12

static struct stackmap_live_bpf *skel_load(unsigned int bits, struct stackmap **ret_map)
{
	struct stackmap_live_bpf *skel = stackmap_live_bpf__open();
	struct stackmap_opts opts = { .bits = bits };

	if (!skel || stackmap__configure(skel->obj, &opts))
		live__skip("the BPF object cannot be opened");
	skel->rodata->live_nr = SYS_getppid;
	bpf_program__set_autoload(skel->progs.live_sleep, false);
	bpf_map__set_max_entries(skel->maps.live_stackid, 1u << bits);
	if (stackmap_live_bpf__load(skel) || stackmap__open(skel->obj, ret_map)) {
		live__wrong("load: %s", strerror(errno));
		exit(1);
	}
	skel->links.live_get = bpf_program__attach(skel->progs.live_get);
	skel->links.live_theirs = bpf_program__attach(skel->progs.live_theirs);
	if (!skel->links.live_get || !skel->links.live_theirs) {
		live__wrong("attach: %s", strerror(errno));
		exit(1);
	}
	return skel;
}

static int count_event(void *ctx, void *data, size_t size)
{
	uint64_t *failed = ctx;

	*failed += ((const struct live_event *)data)->id <= 0;
	return 0;
}

static void load_once(unsigned int bits, unsigned int percent, unsigned int set)
{
	unsigned int stacks = (1u << bits) * percent / 100, i;
	struct stackmap *map = NULL;
	struct stackmap_live_bpf *skel = skel_load(bits, &map);
	struct stackmap_stats st;
	struct ring_buffer *ring;
	struct chain *chain = live__chain();
	uint64_t failed = 0, ip;
	int err;

	ring = ring_buffer__new(bpf_map__fd(skel->maps.live_ring), count_event, &failed, NULL);
	skel->bss->live_pid = getpid();
	for (i = 0; i < stacks; i++) {
		live__craft(chain, set * 1000003 + i, DEPTH);
		live__call(chain, i, &ip);
	}
	skel->bss->live_pid = 0;
	err = ring_buffer__consume(ring);
	ring_buffer__free(ring);
	stackmap__stats(map, &st);
	LIVE_CHECK(err == (int)stacks, "%d events of %u", err, stacks);
	LIVE_CHECK(!failed, "%lu of %u stacks lost at %u %%", failed, stacks, percent);
	LIVE_CHECK(st.stacks == stacks, "%lu stacks stored, not %u", st.stacks, stacks);
	LIVE_CHECK(!st.probe_limit && !st.pool_full, "lookups failed");
	printf("2^%u, %u %%, set %u: %u stacks, %lu lost; bpf_get_stackid() loses %llu (%.1f %%)\n",
	       bits, percent, set, stacks, failed, skel->bss->live_stackid_failed,
	       100.0 * skel->bss->live_stackid_failed / stacks);
	stackmap__free(map);
	stackmap_live_bpf__destroy(skel);
}

int main(int argc, char **argv)
{
	unsigned int sets = argc > 1 ? atoi(argv[1]) : 5, set;

	live__need(1);
	live__pin(0);
	for (set = 0; set < sets; set++) {
		load_once(10, 50, set);
		load_once(10, 90, set);
		load_once(14, 50, set);
		load_once(14, 90, set);
	}
	printf("%u errors\n", live_errors);
	return live_errors != 0;
}
