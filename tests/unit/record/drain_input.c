// SPDX-License-Identifier: GPL-2.0-only
#undef NDEBUG /* assert() has side effects here */
#include "drain_input.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/bpf.h>

#include "record/bpf/programs.h"
#include "record/memory.h"
#include "stackmap/stackmap.h"

/* Pages of the consumer's and the producer's position, then the data, which is mapped twice. */
struct ring {
	int fd;
	char *memory;
};

static struct input {
	unsigned int nr_cpus;
	size_t page;
	struct memory_plan memory;
	struct ring *rings;
	uint64_t frames[DRAIN_INPUT_DEPTH];
} input;

void drain_input__open(unsigned int nr_cpus, size_t ring_size)
{
	unsigned int i;

	input = (struct input){
		.nr_cpus = nr_cpus,
		.page = sysconf(_SC_PAGESIZE),
		.memory = { .ring = ring_size }, /* and no thread that moves records */
		.rings = calloc(nr_cpus, sizeof(*input.rings)),
	};
	assert(input.rings);
	for (i = 0; i < nr_cpus; i++) {
		size_t len = 2 * input.page + 2 * ring_size;
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
		munmap(input.rings[i].memory, 2 * input.page + 2 * input.memory.ring);
		close(input.rings[i].fd);
	}
	free(input.rings);
	input = (struct input){ 0 };
}

struct programs *drain_input__programs(void)
{
	return (struct programs *)&input;
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* The kernel maps the data twice; here it is written twice. */
static void put_bytes(const struct ring *r, uint64_t at, const void *bytes, size_t len)
{
	size_t size = input.memory.ring, off = at & (size - 1);
	char *data = r->memory + 2 * input.page;

	memcpy(data + off, bytes, len);
	if (off + len > size) {
		memcpy(data, (const char *)bytes + (size - off), len - (size - off));
		len = size - off;
	}
	memcpy(data + size + off, bytes, len);
}

bool drain_input__put(unsigned int cpu, const void *record, size_t len)
{
	const struct ring *r = &input.rings[cpu];
	uint64_t *producer = (uint64_t *)(r->memory + input.page), at = *producer;
	uint64_t taken = __atomic_load_n((uint64_t *)r->memory, __ATOMIC_ACQUIRE);
	size_t whole = (BPF_RINGBUF_HDR_SZ + len + 7) & ~7ul;
	uint64_t header = len;

	if (at + whole - taken > input.memory.ring)
		return false;
	put_bytes(r, at, &header, sizeof(header));
	put_bytes(r, at + sizeof(header), record, len);
	__atomic_store_n(producer, at + whole, __ATOMIC_RELEASE);
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
int __wrap_programs__ring_fd(const struct programs *p, unsigned int cpu);
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

int __wrap_programs__ring_fd(const struct programs *p, unsigned int cpu)
{
	return input.rings[cpu].fd;
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
