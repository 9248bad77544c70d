// SPDX-License-Identifier: GPL-2.0-only
/* Memory and instructions of the programs in the kernel. */
#include <stdio.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "programs_priv.h"

/* Kernel memory of a map or program, from the fdinfo of its descriptor. */
static uint64_t memlock(int fd)
{
	unsigned long long bytes = 0;
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %llu", &bytes) == 1)
			break;
	return bytes;
}

static void add_program(struct backend_costs *c, int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return;
	c->prog_bytes += info.jited_prog_len;
	c->verified += info.verified_insns;
}

bool programs__lacks_counter(const struct programs *p, unsigned int event)
{
	return p->attached[event].no_counter;
}

/*
 * Before 6.4 (90a5527d7686 "bpf: add new map ops ->map_mem_usage") the kernel says what a map's
 * elements would take with their keys, in whole pages, and nothing of ring buffers: then sizes are
 * added up.  The number for a map with one small element shows which of both it is.
 */
static bool are_accounted(const struct programs *p)
{
	return memlock(bpf_map__fd(p->skel->maps.tails)) % sysconf(_SC_PAGESIZE);
}

static uint64_t map_bytes(const struct programs *p, const struct bpf_map *map, bool accounted)
{
	int fd = bpf_map__fd(map);

	return fd < 0 ? 0 : accounted ? memlock(fd) : programs__map_bytes(p, map);
}

static uint64_t ring_bytes(const struct programs *p, bool accounted)
{
	uint64_t sum = 0;
	unsigned int i, k;

	for (i = 0; i < p->nr_cpus; i++) {
		const int *fds = programs__ring_fds(p, i);
		int file_fd = p->file_ring_fds[i];

		for (k = 0; accounted && fds && k < p->rings.nr_parts; k++)
			sum += memlock(fds[k]);
		if (!accounted && fds)
			sum += p->memory.ring_memory;
		if (file_fd >= 0)
			sum += accounted ? memlock(file_fd) : FILE_RING_BYTES;
	}
	return sum;
}

void programs__costs(const struct programs *p, struct backend_costs *ret_costs)
{
	struct backend_costs c = p->costs;
	struct bpf_program *prog;
	struct bpf_map *map;
	bool accounted = are_accounted(p);
	unsigned int i;

	c.irq_flag = p->skel->bss->calibrate_irqs_off >= 0;
	c.map_bytes = ring_bytes(p, accounted);
	bpf_object__for_each_map(map, p->skel->obj) c.map_bytes += map_bytes(p, map, accounted);
	bpf_object__for_each_program(prog, p->skel->obj) add_program(&c, bpf_program__fd(prog));
	for (i = 0; i < p->nr_events; i++)
		add_program(&c, p->attached[i].count_prog);
	for (i = 0; i < p->nr_probes; i++)
		add_program(&c, p->probes[i].count_prog);
	for (i = 0; i < OLD_WAY_PROGRAMS; i++)
		add_program(&c, old_way__program(p, i));
	*ret_costs = c;
}
