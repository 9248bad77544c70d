// SPDX-License-Identifier: GPL-2.0-only
/* Divides the memory of a recording among the maps. */
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "event_ring.h"
#include "log.h"
#include "programs_priv.h"
#include "stackmap/stackmap.h"
#include "stackmap/stackmap_layout.h"

_Static_assert(MEMORY_SLOTS_PER_STACK == 2 * sizeof(struct stackmap_line) / STACKMAP_LINE,
	       "the stack map has two slots for each stack");
_Static_assert(MEMORY_BITS_MIN == STACKMAP_BITS_MIN && MEMORY_BITS_MAX == STACKMAP_BITS_MAX,
	       "the stack map has the same limits");

uint64_t programs__map_bytes(const struct programs *p, const struct bpf_map *map)
{
	uint64_t nr = bpf_map__max_entries(map), value = (bpf_map__value_size(map) + 7) & ~7u;

	switch (bpf_map__type(map)) {
	case BPF_MAP_TYPE_RINGBUF:
		return nr;
	case BPF_MAP_TYPE_PERCPU_ARRAY:
		return nr * value * p->nr_cpus;
	default:
		return nr * value;
	}
}

/* All maps but those whose size follows from the budget; cpus: that get rings. */
static uint64_t fixed_bytes(const struct programs *p, unsigned int cpus)
{
	const struct record_bpf *s = p->skel;
	const struct bpf_map *map;
	/* the rings in the array of rings are not maps of the object */
	uint64_t sum = p->user_stacks ? (uint64_t)cpus * FILE_RING_BYTES : 0;

	bpf_object__for_each_map(map, s->obj)
	{
		if (map != s->maps.stackmap_slots && map != s->maps.stackmap_pool &&
		    bpf_map__autocreate(map))
			sum += programs__map_bytes(p, map);
	}
	return sum;
}

static void size_rings(struct programs *p)
{
	uint64_t part = MIN(p->memory.ring, (uint64_t)WIRE_RING_PART);
	struct record_bpf *s = p->skel;

	p->rings = (struct wire_rings){
		.bytes = p->memory.ring,
		.nr_parts = p->memory.ring / part,
		.mask = part - sizeof(uint64_t),
	};
	s->rodata->ring_layout = p->rings;
	s->rodata->copy_limit = p->memory.ring / 2;
	bpf_map__set_value_size(bpf_map__inner_map(s->maps.ring_parts),
				event_ring__part_bytes(&p->rings));
	bpf_map__set_max_entries(s->maps.ring_parts, p->nr_cpus * p->rings.nr_parts);
}

int programs__plan_memory(struct programs *p)
{
	struct stackmap_opts so;
	struct memory_machine m;
	int err;

	memory_machine__read(&m);
	m.fixed = fixed_bytes(p, m.cpus);
	m.slack = WIRE_RING_SLACK;
	memory_plan__make(p->opts, &m, &p->memory);
	if (!p->user_stacks || p->opts->user_fp_only)
		p->memory.tables = 0;
	memory_plan__log(&p->memory);
	size_rings(p);
	so = (struct stackmap_opts){ .bits = p->memory.stack_map_bits,
				     .pool_bytes = p->memory.stack_pool };
	err = stackmap__configure(p->skel->obj, &so);
	return err ? log_err(err, "configure a stack map of 2^%u stacks", so.bits) : 0;
}
