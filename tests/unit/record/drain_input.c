// SPDX-License-Identifier: GPL-2.0-only
#undef NDEBUG /* assert() has side effects here */
#include "drain_input.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/bpf/event_ring.h"
#include "record/bpf/programs.h"
#include "record/memory.h"
#include "stackmap/stackmap.h"

static struct input {
	unsigned int nr_cpus;
	struct memory_plan memory;
	struct wire_rings layout; /* with one part */
	struct ring {
		struct wire_ring_pos pos;
		int fd;
		char *memory;
	} * rings;
	int wakeup_fd; /* never written to */
	uint64_t frames[DRAIN_INPUT_DEPTH];
} input;

void drain_input__open(unsigned int nr_cpus, size_t ring_size)
{
	unsigned int i;

	assert(ring_size <= WIRE_RING_PART);
	input = (struct input){
		.nr_cpus = nr_cpus,
		.memory = { .ring = ring_size }, /* and no thread that moves records */
		.layout = { .bytes = ring_size, .nr_parts = 1, .mask = ring_size - 8 },
		.rings = calloc(nr_cpus, sizeof(*input.rings)),
		.wakeup_fd = eventfd(0, EFD_CLOEXEC),
	};
	assert(input.rings && input.wakeup_fd >= 0);
	for (i = 0; i < nr_cpus; i++) {
		size_t len = event_ring__part_bytes(&input.layout);
		struct ring *r = &input.rings[i];

		r->fd = memfd_create("ring", MFD_CLOEXEC);
		assert(r->fd >= 0 && !ftruncate(r->fd, len));
		r->memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		assert(r->memory != MAP_FAILED);
	}
}

void drain_input__close(void)
{
	unsigned int i;

	for (i = 0; i < input.nr_cpus; i++) {
		munmap(input.rings[i].memory, event_ring__part_bytes(&input.layout));
		close(input.rings[i].fd);
	}
	close(input.wakeup_fd);
	free(input.rings);
	input = (struct input){ 0 };
}

struct programs *drain_input__programs(void)
{
	return (struct programs *)&input;
}

/* ---- rings ----------------------------------------------------------------------------------- */

bool drain_input__put(unsigned int cpu, const void *record, size_t len)
{
	struct ring *r = &input.rings[cpu];
	uint64_t tail = __atomic_load_n(&r->pos.tail, __ATOMIC_ACQUIRE), first;
	char *to = r->memory + (r->pos.head & input.layout.mask);
	struct wire_head head;
	size_t size;

	memcpy(&head, record, sizeof(head));
	head.len = len;
	size = event_ring__size(&head);
	if (r->pos.head + size - tail > input.layout.bytes)
		return false;
	__atomic_store_n(&r->pos.head, r->pos.head + size, __ATOMIC_RELEASE);
	memcpy(to + sizeof(head), (const char *)record + sizeof(head), len - sizeof(head));
	memcpy(&first, &head, sizeof(first));
	__atomic_store_n((uint64_t *)to, first, __ATOMIC_RELEASE);
	return true;
}

bool drain_input__put_task(unsigned int cpu, uint32_t tid, uint32_t tgid, const char *comm)
{
	struct wire_task t = { .event = WIRE_TASK, .tid = tid, .tgid = tgid };

	strncpy((char *)t.comm, comm, sizeof(t.comm) - 1);
	return drain_input__put(cpu, &t, sizeof(t));
}

/* ---- functions that are replaced ------------------------------------------------------------- */

unsigned int __wrap_programs__nr_cpus(const struct programs *p);
const struct memory_plan *__wrap_programs__memory(const struct programs *p);
struct stackmap *__wrap_programs__stackmap(const struct programs *p);
const struct wire_rings *__wrap_programs__rings(const struct programs *p);
struct wire_ring_pos *__wrap_programs__ring_pos(const struct programs *p, unsigned int cpu);
const int *__wrap_programs__ring_fds(const struct programs *p, unsigned int cpu);
struct event_wakeups __wrap_programs__wakeups(const struct programs *p);
int __wrap_stackmap__lookup(const struct stackmap *map, uint64_t id,
			    struct stackmap_stack *ret_stack);

unsigned int __wrap_programs__nr_cpus(const struct programs *p)
{
	return input.nr_cpus;
}

const struct memory_plan *__wrap_programs__memory(const struct programs *p)
{
	return &input.memory;
}

struct stackmap *__wrap_programs__stackmap(const struct programs *p)
{
	return NULL;
}

const struct wire_rings *__wrap_programs__rings(const struct programs *p)
{
	return &input.layout;
}

struct wire_ring_pos *__wrap_programs__ring_pos(const struct programs *p, unsigned int cpu)
{
	return &input.rings[cpu].pos;
}

const int *__wrap_programs__ring_fds(const struct programs *p, unsigned int cpu)
{
	return &input.rings[cpu].fd;
}

static int take_nothing(void *ctx)
{
	return 0;
}

struct event_wakeups __wrap_programs__wakeups(const struct programs *p)
{
	return (struct event_wakeups){ .fd = input.wakeup_fd, .take = take_nothing };
}

uint64_t drain_input__frame(uint32_t id, unsigned int i)
{
	return 0xffffffff81000000 + 0x1000 * i + (i < 2 ? 16 * id : 0);
}

int __wrap_stackmap__lookup(const struct stackmap *map, uint64_t id,
			    struct stackmap_stack *ret_stack)
{
	unsigned int i;

	if (!id || id > DRAIN_INPUT_IDS)
		return -ENOENT;
	for (i = 0; i < DRAIN_INPUT_DEPTH; i++)
		input.frames[i] = drain_input__frame(id, i);
	*ret_stack = (struct stackmap_stack){
		.id = id,
		.words = input.frames,
		.n = DRAIN_INPUT_DEPTH,
	};
	return 0;
}
