// SPDX-License-Identifier: GPL-2.0-only
/* Divides the budget of kernel memory. */
#include "memory.h"

#include <inttypes.h>
#include <unistd.h>

#include "cleanup.h"
#include "log.h"
#include "opts.h"
#include "text.h"
#include "wire.h"

#define PER_STACK (MEMORY_SLOTS_PER_STACK + MEMORY_POOL_PER_STACK)
/* Without --memory: more is rarely of use, and memory is for the machine's own work. */
#define RING_USUAL (8u << 20)
#define BITS_USUAL 16
#define TABLES_USUAL (256u << 20)
/* A map of few stacks is asked for where these are deep. */
#define POOL_OF_GIVEN_BITS (4u << 20)

void memory_machine__read(struct memory_machine *ret_machine)
{
	*ret_machine = (struct memory_machine){
		.bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		.cpus = MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L),
	};
}

/* The largest power of two that is not above the share of a CPU, within the limits. */
static uint64_t ring_size(uint64_t share, uint64_t most)
{
	uint64_t size = MEMORY_RING_MIN;

	while (size < most && size * 2 <= share)
		size *= 2;
	return size;
}

static uint32_t map_bits(uint64_t share, uint32_t most)
{
	uint32_t bits = MEMORY_BITS_MIN;

	while (bits < most && (uint64_t)PER_STACK << (bits + 1) <= share)
		bits++;
	return bits;
}

static uint64_t rest(uint64_t all, uint64_t used)
{
	return all > used ? all - used : 0;
}

void memory_plan__make(const struct recorder_opts *o, const struct memory_machine *m,
		       struct memory_plan *ret_plan)
{
	uint64_t budget = o->memory ?: m->bytes / MEMORY_SHARE, usable;
	struct memory_plan p = {
		.budget = budget,
		.rings = m->cpus,
		.fixed = m->fixed,
		.moved = MIN(budget, MEMORY_MOVED_MAX),
	};

	/* a large fixed part must not leave nothing for the others */
	usable = MAX(rest(budget, p.fixed), budget / 2);
	p.ring = o->buffer_size;
	if (!p.ring)
		p.ring = ring_size(usable / 2 / p.rings, o->memory ? MEMORY_RING_MAX : RING_USUAL);
	p.ring_memory = p.ring + MAX(p.ring / WIRE_RING_PART, (uint64_t)1) * m->slack;
	p.stack_map_bits = o->stack_map_bits;
	if (!p.stack_map_bits)
		p.stack_map_bits = map_bits(usable / 3, o->memory ? MEMORY_BITS_MAX : BITS_USUAL);
	p.stack_pool = o->stack_pool;
	if (!p.stack_pool)
		p.stack_pool = (uint64_t)MEMORY_POOL_PER_STACK << p.stack_map_bits;
	if (!o->stack_pool && o->stack_map_bits)
		p.stack_pool = MAX(p.stack_pool, (uint64_t)POOL_OF_GIVEN_BITS);
	p.stack_map = p.stack_pool + ((uint64_t)MEMORY_SLOTS_PER_STACK << p.stack_map_bits);
	p.tables = o->table_budget;
	if (!p.tables) {
		p.tables = rest(usable, p.rings * p.ring_memory + p.stack_map);
		p.tables = MAX(p.tables, MEMORY_TABLES_MIN);
		p.tables = MIN(p.tables, o->memory ? MEMORY_TABLES_MAX : (uint64_t)TABLES_USUAL);
	}
	*ret_plan = p;
}

void memory_plan__log(const struct memory_plan *p)
{
	log_debug("memory: a budget of %s", text__bytes(p->budget).s);
	log_debug("memory: %s for rings, %s for each of %s",
		  text__bytes(p->rings * p->ring_memory).s, text__bytes(p->ring_memory).s,
		  text__count(p->rings, "CPU").s);
	if (p->stack_map)
		log_debug("memory: %s for the stack map, %s", text__bytes(p->stack_map).s,
			  text__count(1ull << p->stack_map_bits, "stack").s);
	if (p->tables)
		log_debug("memory: at most %s for unwind tables", text__bytes(p->tables).s);
	if (p->fixed)
		log_debug("memory: %s for everything else", text__bytes(p->fixed).s);
}
