// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Sizes, reads and resets a stack map from user space. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "cleanup.h"
#include "grace.h"
#include "log.h"
#include "stackmap.h"
#include "stackmap_layout.h"

#define POOL_WORDS_MAX (1u << 30)
#define BYTES_PER_STACK 160

/* One of the three maps: `nr` values, mapped read-only but for ctl. */
struct region {
	int fd; /* -1: the caller's memory */
	void *mem;
	size_t size;
	uint32_t nr;
};

struct stackmap {
	struct region slots;
	struct region pool;
	struct region ctl;
	uint32_t pool_words;
};

static const struct stackmap_line *map__line(const struct stackmap *map, uint32_t i)
{
	return (const struct stackmap_line *)map->slots.mem + (i & (map->slots.nr - 1));
}

static union stackmap_cell *map__cell(const struct stackmap *map, uint32_t i)
{
	return (union stackmap_cell *)map->ctl.mem + i;
}

static struct stackmap_head *map__head(const struct stackmap *map)
{
	return &map__cell(map, 0)->head;
}

static uint32_t power_of_two(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static int plan(const struct stackmap_opts *opts, struct stackmap_cfg *ret_cfg)
{
	unsigned int bits = opts->bits ? opts->bits : STACKMAP_BITS_DEFAULT;
	unsigned long long bytes = opts->pool_bytes, pages;
	struct stackmap_cfg cfg = {};
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 0)
		return log_err(cpus, "stack map: count the CPUs");
	if (bits < STACKMAP_BITS_MIN || bits > STACKMAP_BITS_MAX)
		return log_why(-ERANGE, "stack map: %u bits, must be %d..%d", bits,
			       STACKMAP_BITS_MIN, STACKMAP_BITS_MAX);
	if (!bytes)
		bytes = MAX((unsigned long long)BYTES_PER_STACK << bits,
			    STACKMAP_PAGES_DEFAULT * STACKMAP_PAGE_WORDS * sizeof(uint64_t));
	pages = (bytes - 1) / (STACKMAP_PAGE_WORDS * sizeof(uint64_t)) + 1;
	if (pages > POOL_WORDS_MAX / STACKMAP_PAGE_WORDS)
		return log_why(-ERANGE, "stack map: a pool of %llu bytes, at most %llu", bytes,
			       POOL_WORDS_MAX * 8ULL);
	cfg.line_mask = (2u << bits) / STACKMAP_LINE - 1;
	cfg.pool_words = pages * STACKMAP_PAGE_WORDS;
	cfg.cell_mask = power_of_two(cpus) - 1;
	cfg.seed = opts->seed;
	if (!cfg.seed && getrandom(&cfg.seed, sizeof(cfg.seed), 0) != sizeof(cfg.seed))
		return log_err(-errno, "stack map: random seed");
	*ret_cfg = cfg;
	return 0;
}

int stackmap__configure(struct bpf_object *obj, const struct stackmap_opts *opts)
{
	struct bpf_map *slots = bpf_object__find_map_by_name(obj, "stackmap_slots");
	struct bpf_map *pool = bpf_object__find_map_by_name(obj, "stackmap_pool");
	struct bpf_map *ctl = bpf_object__find_map_by_name(obj, "stackmap_ctl");
	struct bpf_map *rodata = bpf_object__find_map_by_name(obj, ".rodata.stackmap");
	struct stackmap_cfg cfg;
	int err;

	if (!slots || !pool || !ctl || !rodata)
		return log_why(-ENOENT, "no stack map in '%s'", bpf_object__name(obj));
	err = plan(opts, &cfg);
	if (err)
		return err;
	err = bpf_map__set_max_entries(slots, cfg.line_mask + 1);
	if (!err)
		err = bpf_map__set_max_entries(pool, cfg.pool_words / STACKMAP_PAGE_WORDS);
	if (!err)
		err = bpf_map__set_max_entries(ctl, cfg.cell_mask + 2);
	if (!err)
		err = bpf_map__set_initial_value(rodata, &cfg, sizeof(cfg));
	if (err)
		return log_err(err, "stack map: size the maps of '%s'", bpf_object__name(obj));
	return 0;
}

static void region__close(struct region *r)
{
	if (r->fd < 0)
		return;
	if (r->mem)
		munmap(r->mem, r->size);
	close(r->fd);
}

static int region__open(struct region *r, int fd, const char *name, size_t value_size, int prot)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);
	size_t page = sysconf(_SC_PAGESIZE);
	void *mem;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return log_err(-errno, "stack map: get info of map '%s'", name);
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != value_size ||
	    !(info.map_flags & BPF_F_MMAPABLE) || !info.max_entries)
		return log_why(-EINVAL, "stack map: map '%s' has an unexpected layout", name);
	r->nr = info.max_entries;
	r->size = ((size_t)r->nr * value_size + page - 1) & ~(page - 1);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0)
		return log_err(-errno, "stack map: duplicate the descriptor of '%s'", name);
	mem = mmap(NULL, r->size, prot, MAP_SHARED, r->fd, 0);
	if (mem == MAP_FAILED)
		return log_err(-errno, "stack map: mmap map '%s'", name);
	r->mem = mem;
	return 0;
}

/* Only sizes that stackmap__configure() can have set keep masks and offsets inside. */
static int map__check(struct stackmap *map)
{
	if (map->slots.nr & (map->slots.nr - 1) ||
	    map->pool.nr > POOL_WORDS_MAX / STACKMAP_PAGE_WORDS || map->ctl.nr < 2)
		return log_why(-EINVAL, "stack map: invalid sizes");
	map->pool_words = map->pool.nr * STACKMAP_PAGE_WORDS;
	return 0;
}

int stackmap__open_fds(int slots_fd, int pool_fd, int ctl_fd, struct stackmap **ret_map)
{
	_cleanup_(stackmap__freep) struct stackmap *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return -ENOMEM;
	map->slots.fd = map->pool.fd = map->ctl.fd = -1;
	err = region__open(&map->slots, slots_fd, "stackmap_slots", sizeof(struct stackmap_line),
			   PROT_READ);
	if (!err)
		err = region__open(&map->pool, pool_fd, "stackmap_pool",
				   sizeof(struct stackmap_page), PROT_READ);
	if (!err)
		err = region__open(&map->ctl, ctl_fd, "stackmap_ctl", sizeof(union stackmap_cell),
				   PROT_READ | PROT_WRITE);
	if (!err)
		err = map__check(map);
	if (err)
		return err;
	*ret_map = take_ptr(map);
	return 0;
}

int stackmap__open(const struct bpf_object *obj, struct stackmap **ret_map)
{
	int slots = bpf_object__find_map_fd_by_name(obj, "stackmap_slots");
	int pool = bpf_object__find_map_fd_by_name(obj, "stackmap_pool");
	int ctl = bpf_object__find_map_fd_by_name(obj, "stackmap_ctl");

	if (slots < 0 || pool < 0 || ctl < 0)
		return log_why(-ENOENT, "no loaded stack map in '%s'", bpf_object__name(obj));
	return stackmap__open_fds(slots, pool, ctl, ret_map);
}

int stackmap__open_memory(struct stackmap_line *lines, uint32_t nr_lines,
			  struct stackmap_page *pages, uint32_t nr_pages,
			  union stackmap_cell *cells, uint32_t nr_cells, struct stackmap **ret_map)
{
	_cleanup_(stackmap__freep) struct stackmap *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return -ENOMEM;
	map->slots = (struct region){ -1, lines, nr_lines * sizeof(*lines), nr_lines };
	map->pool = (struct region){ -1, pages, nr_pages * sizeof(*pages), nr_pages };
	map->ctl = (struct region){ -1, cells, nr_cells * sizeof(*cells), nr_cells };
	err = map__check(map);
	if (err)
		return err;
	*ret_map = take_ptr(map);
	return 0;
}

void stackmap__free(struct stackmap *map)
{
	if (!map)
		return;
	region__close(&map->slots);
	region__close(&map->pool);
	region__close(&map->ctl);
	free(map);
}

void stackmap__freep(struct stackmap **map)
{
	stackmap__free(*map);
}

uint32_t stackmap__generation(const struct stackmap *map)
{
	return __atomic_load_n(&map__head(map)->resets, __ATOMIC_ACQUIRE) + 1;
}

/* The well-formed record at an offset, or NULL. */
static const struct stackmap_record *map__record(const struct stackmap *map, uint32_t off)
{
	const struct stackmap_page *page = map->pool.mem;
	const struct stackmap_record *rec;

	if (off < STACKMAP_FIRST || off >= map->pool_words)
		return NULL;
	page += off >> STACKMAP_PAGE_SHIFT;
	rec = (const void *)&page->word[off & (STACKMAP_PAGE_WORDS - 1)];
	if (!rec->n || rec->n > STACKMAP_WORDS)
		return NULL;
	return rec;
}

static void map__fill(const struct stackmap *map, uint32_t off, const struct stackmap_record *rec,
		      struct stackmap_stack *ret_stack)
{
	ret_stack->id = (uint64_t)stackmap__generation(map) << 32 | off;
	ret_stack->words = (const uint64_t *)rec->word;
	ret_stack->n = rec->n;
	ret_stack->refs = __atomic_load_n(&rec->refs, __ATOMIC_RELAXED);
}

/* Whether the probe sequence of the words has a slot with this offset: only then it is an id. */
static int map__published(const struct stackmap *map, uint32_t off,
			  const struct stackmap_record *rec)
{
	struct stackmap_buf buf = {}; /* zero padded further than the record */
	const struct stackmap_line *line;
	uint64_t hash, v;
	uint32_t l, k;

	memcpy(buf.w, rec->word, rec->n * sizeof(buf.w[0]));
	hash = stackmap_hash(buf.w, rec->n, map__head(map)->seed);
	for (l = 0; l < STACKMAP_PROBES; l++) {
		line = map__line(map, STACKMAP_LINE0(hash) + l);
		for (k = 0; k < STACKMAP_LINE; k++) {
			v = __atomic_load_n(&line->slot[(STACKMAP_SLOT0(hash) + k) % STACKMAP_LINE],
					    __ATOMIC_ACQUIRE);
			if (!v)
				return 0;
			if (v == ((uint64_t)STACKMAP_TAG(hash) << 32 | off))
				return 1;
		}
	}
	return 0;
}

int stackmap__lookup(const struct stackmap *map, uint64_t id, struct stackmap_stack *ret_stack)
{
	const struct stackmap_record *rec;

	if (id >> 32 && id >> 32 != stackmap__generation(map))
		return -ESTALE;
	rec = map__record(map, id);
	if (!rec || !map__published(map, id, rec))
		return -ENOENT;
	map__fill(map, id, rec, ret_stack);
	return 0;
}

int stackmap__next(const struct stackmap *map, uint64_t *cursor, struct stackmap_stack *ret_stack)
{
	uint64_t total = (uint64_t)map->slots.nr * STACKMAP_LINE, i, v;
	const struct stackmap_record *rec;

	for (i = *cursor; i < total; i++) {
		v = __atomic_load_n(&map__line(map, i / STACKMAP_LINE)->slot[i % STACKMAP_LINE],
				    __ATOMIC_ACQUIRE);
		if (!v)
			continue;
		rec = map__record(map, v);
		if (!rec)
			return log_why(-EUCLEAN, "stack map: no record at %u", (uint32_t)v);
		map__fill(map, v, rec, ret_stack);
		*cursor = i + 1;
		return 1;
	}
	*cursor = i;
	return 0;
}

int stackmap__stats(const struct stackmap *map, struct stackmap_stats *ret_stats)
{
	const struct stackmap_head *head = map__head(map);
	uint64_t sum[STACKMAP_C_NR] = {}, spare = 0;
	uint32_t limit = map->pool_words - STACKMAP_FIRST, i, k;

	for (i = 1; i < map->ctl.nr; i++) {
		const struct stackmap_cpu *cpu = &map__cell(map, i)->cpu;

		for (k = 0; k < STACKMAP_C_NR; k++)
			sum[k] += __atomic_load_n(&cpu->count[k], __ATOMIC_RELAXED);
		for (k = 0; k < STACKMAP_SPARES; k++)
			spare += __atomic_load_n(&cpu->spare[k], __ATOMIC_RELAXED) >> 32;
	}
	*ret_stats = (struct stackmap_stats){
		.generation = stackmap__generation(map),
		.users = head->users & ~STACKMAP_RESETTING,
		.capacity = (uint64_t)map->slots.nr * STACKMAP_LINE / 2,
		.stacks = sum[STACKMAP_C_NEW],
		.pool_words = limit,
		.pool_used = MIN(__atomic_load_n(&head->next, __ATOMIC_RELAXED), limit),
		.pool_spare = spare,
		.pool_wasted = sum[STACKMAP_C_WASTED],
		.races = sum[STACKMAP_C_RACE],
		.slow = sum[STACKMAP_C_SLOW],
		.pool_full = sum[STACKMAP_C_EPOOL],
		.probe_limit = sum[STACKMAP_C_EPROBE],
		.bad_argument = sum[STACKMAP_C_EARG],
		.resetting = sum[STACKMAP_C_ERESET],
	};
	return 0;
}

int stackmap__hold(struct stackmap *map)
{
	uint32_t *users = &map__head(map)->users, old = __atomic_load_n(users, __ATOMIC_RELAXED);

	do {
		if (old & STACKMAP_RESETTING)
			return -EBUSY;
	} while (!__atomic_compare_exchange_n(users, &old, old + 1, 0, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return 0;
}

int stackmap__release(struct stackmap *map)
{
	uint32_t *users = &map__head(map)->users, old = __atomic_load_n(users, __ATOMIC_RELAXED);

	do {
		if (!(old & ~STACKMAP_RESETTING))
			return -EINVAL;
	} while (!__atomic_compare_exchange_n(users, &old, old - 1, 0, __ATOMIC_SEQ_CST,
					      __ATOMIC_RELAXED));
	return 0;
}

/* Waits until the programs that run now have ended; a map in the caller's memory has none. */
static int wait_for_programs(const struct stackmap *map)
{
	return map->ctl.fd < 0 ? 0 : grace__wait();
}

/* Maps the region's memory writable; the caller releases it by region__readonly(). */
static void *region__writable(const struct region *r)
{
	void *mem;

	if (r->fd < 0)
		return r->mem;
	mem = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

static void region__readonly(const struct region *r, void *mem)
{
	if (r->fd >= 0 && mem)
		munmap(mem, r->size);
}

/*
 * Insertion is off.  Waits for running inserters, clears the slots and ends the generation, waits
 * for the readers of what slots and hints named, and only then clears the records.
 */
static int map__clear(struct stackmap *map, void *slots, void *pool)
{
	struct stackmap_head *head = map__head(map);
	size_t pages;
	uint32_t i;
	int err;

	err = wait_for_programs(map);
	if (err)
		return err;
	pages = MIN(head->next, map->pool_words) / STACKMAP_PAGE_WORDS + 1;
	memset(slots, 0, map->slots.size);
	__atomic_fetch_add(&head->resets, 1, __ATOMIC_SEQ_CST);
	err = wait_for_programs(map);
	memset(pool, 0, MIN(pages * sizeof(struct stackmap_page), map->pool.size));
	for (i = 1; i < map->ctl.nr; i++)
		memset(map__cell(map, i), 0, sizeof(union stackmap_cell));
	__atomic_store_n(&head->next, 0, __ATOMIC_SEQ_CST);
	return err;
}

int stackmap__reset(struct stackmap *map)
{
	uint32_t *users = &map__head(map)->users, idle = 0;
	void *slots, *pool;
	int err = -ENOMEM;

	if (!__atomic_compare_exchange_n(users, &idle, STACKMAP_RESETTING, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return -EBUSY;
	slots = region__writable(&map->slots);
	pool = region__writable(&map->pool);
	if (slots && pool)
		err = map__clear(map, slots, pool);
	region__readonly(&map->slots, slots);
	region__readonly(&map->pool, pool);
	__atomic_fetch_and(users, ~STACKMAP_RESETTING, __ATOMIC_SEQ_CST);
	return err ? log_err(err, "stack map: reset") : 0;
}
